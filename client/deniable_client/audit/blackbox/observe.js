// In an isolated world, which shares the page's documents and storage but none of its scripts: what is to be seen now.
async () => {
  // Two frames, so that everything that hears of a new size has heard of it.
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const light = (node) => {
    const copy = node.cloneNode(true);
    for (const each of copy.querySelectorAll("deniable-survey")) each.removeAttribute("catalogue");
    return copy.outerHTML;
  };
  // From the first look on: what is changed in the page and back again before the next one, and every size of the element.
  const changes = (globalThis.changes ??= { page: [], sizes: [] });
  const element = document.querySelector("deniable-survey, deniable-question");
  if (!changes.watching) {
    const name = (node) => node.nodeName.toLowerCase();
    const told = ({ type, target, attributeName, oldValue, addedNodes, removedNodes }) =>
      [type, name(target), attributeName, oldValue, [...addedNodes].map(name), [...removedNodes].map(name)];
    const note = (records) => changes.page.push(...records.map(told));
    changes.watching = new MutationObserver(note);
    changes.watching.observe(document, { subtree: true, childList: true, attributeOldValue: true, characterDataOldValue: true });
    const measure = ([{ contentRect: { width, height } }]) => changes.sizes.push([width, height].map(Math.round).join(" "));
    if (element?.localName === "deniable-question") new ResizeObserver(measure).observe(element);
    changes.note = note;
  }
  changes.note(changes.watching.takeRecords());
  const databases = {};
  for (const { name, version } of (await indexedDB.databases?.()) ?? []) {
    databases[`${name} ${version}`] = await new Promise((done) => {
      const request = indexedDB.open(name);
      request.onerror = () => done("unreadable");
      request.onsuccess = async () => {
        const db = request.result;
        const stores = {};
        for (const store of db.objectStoreNames) {
          const all = (method) => new Promise((ok) => {
            const asked = db.transaction(store).objectStore(store)[method]();
            asked.onsuccess = () => ok(asked.result);
            asked.onerror = () => ok("unreadable");
          });
          stores[store] = [await all("getAllKeys"), await all("getAll")];
        }
        db.close();
        done(stores);
      };
    });
  }
  const storage = (name) => { try { return { ...window[name] }; } catch { return "blocked"; } };
  // The device's mark that a memory was there is an empty cache, made when it gets round to it: no time for it is right.
  const MARK = "deniable";
  const cached = async () => {
    const found = {};
    try {
      for (const name of await caches.keys()) {
        const held = (await (await caches.open(name)).keys()).map(({ url }) => url);
        if (name !== MARK || held.length) found[name] = held;
      }
    } catch {
      return "blocked";
    }
    return found;
  };
  return {
    address: location.href,
    title: document.title,
    "window name": window.name,
    history: [history.length, history.state],
    scrolling: history.scrollRestoration,
    playing: [navigator.mediaSession?.metadata?.title ?? null, navigator.mediaSession?.playbackState ?? null],
    cookies: document.cookie,
    localStorage: storage("localStorage"),
    sessionStorage: storage("sessionStorage"),
    indexedDB: databases,
    caches: await cached(),
    page: light(document.documentElement),
    // The page around a form's question may measure it, and reads its own fields.
    box: element?.localName === "deniable-question" ? [element.offsetWidth, element.offsetHeight] : null,
    changes: changes.page,
    sizes: [...new Set(changes.sizes)],
    fields: [...document.querySelectorAll("input, select, textarea")].map(({ name, value, checked }) => [name, value, checked]),
    frames: window.length,
    marks: ["mark", "measure"].flatMap((kind) => performance.getEntriesByType(kind).map(({ name }) => name)),
    screen: element?.shadowRoot?.querySelector("fieldset") ? "questions" : (element?.shadowRoot?.innerHTML ?? ""),
    registrations: (await navigator.serviceWorker?.getRegistrations?.().catch(() => []) ?? []).length,
  };
}
