// In an isolated world, which shares the page's documents and storage but none of its scripts: what is to be seen now.
async () => {
  // Two frames, so that everything that hears of a new size has heard of it.
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const light = (node) => {
    const copy = node.cloneNode(true);
    for (const each of copy.querySelectorAll("deniable-survey")) each.removeAttribute("catalogue");
    return copy.outerHTML;
  };
  const element = document.querySelector("deniable-survey");
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
    cookies: document.cookie,
    localStorage: storage("localStorage"),
    sessionStorage: storage("sessionStorage"),
    indexedDB: databases,
    caches: await cached(),
    page: light(document.documentElement),
    frames: window.length,
    marks: ["mark", "measure"].flatMap((kind) => performance.getEntriesByType(kind).map(({ name }) => name)),
    screen: element?.shadowRoot?.querySelector("fieldset") ? "questions" : (element?.shadowRoot?.innerHTML ?? ""),
    registrations: (await navigator.serviceWorker?.getRegistrations?.().catch(() => []) ?? []).length,
  };
}
