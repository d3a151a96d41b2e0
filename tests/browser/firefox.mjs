// What Firefox does with a survey, for tests/browser/test_firefox.py: `node firefox.mjs FIREFOX` reads a line of JSON for
// each scenario and prints a line with what it found. One Firefox has a device of its own for each.
//
// Driven over WebDriver BiDi, which a Firefox of the system speaks by itself.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const web = createRequire(new URL("../../client/deniable_web/package.json", import.meta.url));
const { default: puppeteer } = await import(pathToFileURL(web.resolve("puppeteer-core")).href);

const [firefox] = process.argv.slice(2);

/** Answer by option numbers, through every screen. @param {any} page @param {string} give @param {unknown[]} numbers */
const answer = (page, give, numbers) => page.evaluate(`(${give})(${JSON.stringify(numbers)})`);

// Expressions, which Puppeteer computes; of a function in a text it would wait for nothing.
const START = "document.querySelector('deniable-survey').shadowRoot?.querySelector('.start button')";
const RECEIPT = "document.querySelector('deniable-survey').shadowRoot.querySelector('a[href$=results]')";
const NOTICE = "getComputedStyle(document.querySelector('.not-started')).visibility";

/** All that the page keeps, wherever a page can. */
const EVERYTHING = () =>
  new Promise((done, fail) => {
    const request = indexedDB.open("deniable", 1);
    request.onerror = fail;
    request.onsuccess = () => {
      const record = request.result.transaction("memory").objectStore("memory").get(0);
      record.onsuccess = async () => {
        const names = (await indexedDB.databases()).map(({ name }) => name);
        const others = [{ ...localStorage }, { ...sessionStorage }, document.cookie, await caches?.keys?.()];
        done(JSON.stringify({ names, others, memory: record.result }));
      };
    };
  });

const FOCUSED = `() => {
  const { activeElement } = document.activeElement?.shadowRoot ?? document;
  return [activeElement?.tagName, activeElement?.name, activeElement?.value, activeElement?.textContent].join(" ");
}`;

/** @type {Record<string, (device: any, given: any) => Promise<unknown>>} */
const scenarios = {
  /** What is seen of a page that has just been asked for, and of one whose script never comes. */
  async load(device, { link }) {
    // What lets the notice appear after three seconds is held at its beginning, however long a busy machine takes to load.
    const hold = () => {
      globalThis.seen = [];
      const look = () => {
        const notice = document.querySelector(".not-started");
        for (const each of notice?.getAnimations() ?? []) (globalThis.appears = each).pause();
        if (notice?.checkVisibility()) globalThis.seen.push(getComputedStyle(notice).visibility);
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    };
    const page = await device.newPage();
    await page.evaluateOnNewDocument(hold);
    await page.goto(link);
    await page.waitForFunction(START);
    const seen = await page.evaluate("[...new Set(seen)]");
    const blocked = await device.newPage();
    await blocked.evaluateOnNewDocument(hold);
    await blocked.setRequestInterception(true);
    blocked.on("request", (/** @type {any} */ request) =>
      request.url().endsWith("/client/deniable.js") ? request.abort() : request.continue(),
    );
    await blocked.goto(link);
    await blocked.waitForFunction("globalThis.appears");
    const at = (/** @type {number} */ time) => blocked.evaluate(`appears.currentTime = ${time}, ${NOTICE}`);
    return { seen, blocked: [await at(0), await at(2_900), await at(3_100)] };
  },

  /** What Start leads to where the second script is another one, and whether that one ran. `isOld` is a Firefox before `modulepreload`. */
  async second(device, { link, isOld }) {
    const page = await device.newPage();
    const without = `(() => {
      const { supports } = DOMTokenList.prototype;
      DOMTokenList.prototype.supports = function (token) { return token !== "modulepreload" && supports.call(this, token); };
    })()`;
    if (isOld) await page.evaluateOnNewDocument(without);
    await page.goto(link);
    await page.waitForFunction(START);
    await page.evaluate(`${START}.click()`);
    const root = "document.querySelector('deniable-survey').shadowRoot";
    await page.waitForFunction(`${root}.querySelector("fieldset, .card > button")`);
    return { said: await page.evaluate(`${root}.querySelector("h1").textContent`), ran: await page.evaluate("!!globalThis.ran") };
  },

  /** The way back to a panel once somebody has closed the page and returned: its code, and what the panel is told. */
  async back(device, { link, give, answers }) {
    const page = await device.newPage();
    await page.goto(link);
    await answer(page, give, answers);
    await page.reload();
    const button = (/** @type {string} */ text) =>
      `[...(document.querySelector("deniable-survey").shadowRoot?.querySelectorAll("button") ?? [])].find((each) => each.textContent.startsWith("${text}"))`;
    await page.waitForFunction(button("Show my code"));
    await page.evaluate(`${button("Show my code")}.click()`);
    const code = await page.evaluate("document.querySelector('deniable-survey').shadowRoot.querySelector('[role=status]').textContent");
    await page.setRequestInterception(true);
    const asked = new Promise((done) => {
      page.on("request", (/** @type {any} */ request) => {
        if (request.url().startsWith("https://panel.example/")) done([request.url(), request.headers().referer ?? null]);
        request.abort();
      });
    });
    await page.evaluate(`${button("Go back")}.click()`);
    return { code, asked: await asked };
  },

  /** Requests, and what the page keeps, for one person after another. */
  async leak(device, { link, give, answers }) {
    const traffic = [];
    const kept = [];
    for (const each of answers) {
      const context = await device.browser().createBrowserContext(); // another person's device
      const page = await context.newPage();
      const requests = /** @type {unknown[]} */ ([]);
      page.on("request", (/** @type {any} */ request) => {
        if (request.url().startsWith(new URL(link).origin)) {
          requests.push([request.method(), request.url(), request.headers()["content-length"] ?? "0"]);
        }
      });
      await page.goto(link);
      await answer(page, give, each);
      traffic.push(JSON.stringify(requests));
      kept.push(await page.evaluate(EVERYTHING));
      await context.close();
    }
    return { traffic, kept };
  },

  /** Two tabs of one device press Send together. */
  async race(device, { link, give, answers }) {
    const pages = [await device.newPage(), await device.newPage()];
    for (const page of pages) {
      await page.goto(link);
      await page.waitForFunction(START);
    }
    await Promise.all(pages.map((page, n) => answer(page, give, answers[n])));
    return {};
  },

  /** Back and Forward from the review to the first screen and back, then Send, and what Back shows then. */
  async steps(device, { link }) {
    const page = await device.newPage();
    await page.goto(link);
    await page.waitForFunction(START);
    const root = "document.querySelector('deniable-survey').shadowRoot";
    const found = /** @type {unknown[]} */ ([]);
    /** Where somebody is, once that is so. */
    const at = async (/** @type {string} */ wanted) => {
      const place = `(${root}.querySelector("fieldset:not([hidden])")?.closest("form:not([hidden])")
        ? ${root}.querySelector("fieldset:not([hidden]) legend .position").textContent.trim()
        : (${root}.querySelector(".review h1") ?? ${root}.querySelector("h1"))?.textContent)`;
      await page.waitForFunction(`${place} === ${JSON.stringify(wanted)}`);
      found.push([wanted, await page.evaluate(`[...${root}.querySelectorAll("input:checked")].map(({ name, value }) => name + value)`)]);
    };
    const press = (/** @type {string} */ selector) => page.evaluate(`${root}.querySelector("${selector}").click()`);
    const go = (/** @type {number} */ by) => page.evaluate(`history.go(${by})`);
    const address = await page.evaluate("location.href");
    const title = await page.evaluate(`${root}.querySelector("h1").textContent`);
    await press(".start button");
    await at("Question 1 of 2");
    await press("fieldset:not([hidden]) input[value='1']");
    await press("fieldset:not([hidden]) .steps button");
    await at("Question 2 of 2");
    await press("fieldset:not([hidden]) input[value='0']");
    await press("fieldset:not([hidden]) .steps button");
    await at("Check your answers");
    for (const place of ["Question 2 of 2", "Question 1 of 2", title]) {
      await go(-1);
      await at(place);
    }
    for (const place of ["Question 1 of 2", "Question 2 of 2", "Check your answers"]) {
      await go(1);
      await at(place);
    }
    await press(".review button[part]");
    await page.waitForFunction(RECEIPT);
    await page.waitForFunction("history.state === null");
    await page.evaluate("new Promise((done) => { addEventListener('popstate', () => done(0)); history.go(1); })");
    const left = await page.evaluate(`${root}.querySelectorAll("fieldset, .review *").length`);
    return { found, left, isSame: address === (await page.evaluate("location.href")) };
  },

  /** The keyboard alone. */
  async keyboard(device, { link, elsewhere }) {
    const page = await device.newPage();
    await page.goto(link);
    await page.waitForFunction(START);
    const until = async (/** @type {string} */ wanted, /** @type {any} */ key = "Tab") => {
      for (let n = 0; n < 80; n++) {
        await page.keyboard.press(key);
        if ((await page.evaluate(`(${FOCUSED})()`)).includes(wanted)) return;
      }
      throw new Error(`the keyboard never reaches ${wanted}`);
    };
    const shown = (/** @type {string} */ selector) =>
      page.waitForFunction((/** @type {string} */ selector) => document.querySelector("deniable-survey").shadowRoot.querySelector(selector), {}, selector);
    await until("Start");
    await page.keyboard.press("Enter");
    await shown("form button:not([type])");
    for (const name of elsewhere) {
      await until(name);
      await page.keyboard.press(" ");
    }
    await until("Check my answers");
    await page.keyboard.press("Enter");
    await shown(".review button[part]");
    await until("Send");
    await page.keyboard.press("Enter");
    await page.waitForFunction(RECEIPT);
    return {};
  },
};

const browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: true });
try {
  for await (const line of createInterface({ input: process.stdin })) {
    const { scenario, ...given } = JSON.parse(line);
    const device = await browser.createBrowserContext();
    const said = await scenarios[scenario](device, given).then(
      (found) => ({ found }),
      (error) => ({ failed: String(error?.stack ?? error) }),
    );
    await device.close();
    console.log(JSON.stringify(said));
  }
} finally {
  await browser.close();
}
