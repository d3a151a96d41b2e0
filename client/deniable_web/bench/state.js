//@ts-check
/* What the bench knows: the last figures, the problem of the file as it is now, and what somebody tries on the slider. */

import { batch, signal } from "@preact/signals";

/**
 * @typedef {object} Finding @property {"error" | "warning" | "note"} kind @property {string} text @property {number | null} line
 * @typedef {object} Figures
 * @property {"share" | "mean"} statistic
 * @property {number} half_width @property {number} half_width_directly
 * @property {number} people @property {number} people_directly @property {number} times
 * @typedef {object} Question
 * @property {string} id @property {string} type @property {string} text @property {number | null} line @property {number} asked
 * @property {number} epsilon @property {string[]} lines @property {number} right @property {Figures} figures
 * @property {{ label: string | null, times: number }[]} costs
 * @typedef {object} Survey What /bench/figures says of a survey; server/deniable_server/authors/bench.py makes it.
 * @property {string} id @property {string} title @property {number} bytes @property {string} outlook @property {number} respondents
 * @property {{ written: number | null, is_tried: boolean, whole: number }} epsilon @property {number} right
 * @property {string} access @property {string[]} cohorts @property {boolean} cohort_required @property {string[]} languages
 * @property {Finding[]} findings @property {string[]} around @property {string[]} whole @property {Question[]} questions
 * @property {{ heading: string, lines: string[], questions: string[] }[]} groups
 * @property {{ of: string[], half_width: number }[]} crossings
 * @typedef {{ text: string, line: number | null, lines: { number: number, text: string }[] }} Trouble
 */

/** @type {import("@preact/signals").Signal<Survey | null>} */
export const figures = signal(null);
/** The questions of `figures`, each a signal of its own. @type {import("@preact/signals").Signal<import("@preact/signals").Signal<Question>[]>} */
export const questions = signal([]);
/** @type {import("@preact/signals").Signal<Trouble | null>} */
export const problem = signal(null);
/** Why the figures on the screen are not those of the slider: what was asked, and what came of it. */
export const busy = signal("");
/** What somebody tries: `epsilon` is null for what stands in the file. @type {import("@preact/signals").Signal<{ respondents: number, epsilon: number | null }>} */
export const settings = signal({ respondents: 1000, epsilon: null });

/** Number of questions whose figures reach the page in one task: with sixty at once, a key would wait for all of them. */
const SLICE = 8;

let revision = 0;
let asked = 0;
let shown = 0;

/** Let a key, or the picture that it asks for, have its turn. */
const turn = () => new Promise((resolve) => setTimeout(resolve));

/** Show a survey's figures: at once if its questions are others than before, else a slice of questions at a time. @param {Survey | null} survey */
async function show(survey) {
  const mine = ++shown;
  const before = questions.peek();
  const now = survey?.questions ?? [];
  if (now.length !== before.length || now.some(({ id }, i) => id !== before[i].peek().id)) {
    batch(() => {
      questions.value = now.map((each) => signal(each));
      figures.value = survey;
    });
    return;
  }
  figures.value = survey;
  for (let i = 0; i < now.length; i += SLICE) {
    await turn();
    if (mine !== shown) return; // newer figures are shown instead
    batch(() => now.slice(i, i + SLICE).forEach((each, n) => (before[i + n].value = each)));
  }
}

/**
 * Ask for the figures; an answer that a later question has overtaken is left out.
 * @returns {Promise<boolean>} whether they could be had
 */
export async function ask() {
  const mine = ++asked;
  const { respondents, epsilon } = settings.value;
  const query = new URLSearchParams({ respondents: String(respondents), ...(epsilon !== null && { epsilon: String(epsilon) }) });
  busy.value = "Computing …";
  try {
    const response = await fetch(`/bench/figures?${query}`);
    const found = await response.json();
    if (mine !== asked) return true;
    if (response.ok) {
      revision = found.revision;
      problem.value = found.problem;
      await show(found.survey);
    }
    if (mine === asked) busy.value = response.ok ? "" : String(found.detail);
    return response.ok;
  } catch {
    if (mine === asked) busy.value = "The preview has stopped: start 'deniable survey preview' again.";
    return false;
  }
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Try something: a number of people, or an epsilon. @param {Partial<{ respondents: number, epsilon: number | null }>} change */
export function tryOut(change) {
  settings.value = { ...settings.value, ...change };
  clearTimeout(timer);
  timer = setTimeout(ask, 120); // a slider that is dragged says twenty numbers a second
}

/** Follow the file for as long as the page is there. */
export async function watch() {
  await ask();
  for (;;) {
    try {
      const { revision: now } = await (await fetch(`/bench/changes?revision=${revision}`)).json();
      if (now === revision) continue;
      revision = now; // also where the figures cannot be had, so that the same is not asked again and again
      if (!(await ask()) && settings.value.epsilon !== null) {
        settings.value = { ...settings.value, epsilon: null }; // the changed file has no survey of the epsilon that is tried
        await ask();
      }
    } catch {
      busy.value = "The preview has stopped: start 'deniable survey preview' again.";
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}
