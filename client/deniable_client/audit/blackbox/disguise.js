// Runs before a page does, in its world: chance comes from what the auditor chose, and nothing shows it.
//
// A Proxy of the browser's own function has its name, its length and its lack of source; the auditor reads what was taken
// from its handler, which no script can reach, or is told through a channel of the browser's protocol, where there is one.
// Chance is words, and by length the bytes of other calls.
(chance, tell) => {
  const taking = (name) => (tell ? { push: (text) => tell(`${name} ${text}`) } : []);
  const [taken, said] = [taking("chance"), taking("event")];
  const { apply, construct } = Reflect;
  const native = Function.prototype.toString;
  const disguised = new WeakMap();
  const own = WeakMap.prototype.get;
  const put = (object, name, handler) => {
    const real = Object.getOwnPropertyDescriptor(object, name);
    const proxy = new Proxy(real.value, handler);
    disguised.set(proxy, real.value);
    Object.defineProperty(object, name, { ...real, value: proxy });
  };
  const hide = (error) => {
    // A frame of this script in the trace of an exception would show that it is here.
    if (error && typeof error.stack === "string") {
      error.stack = error.stack.split("\n").filter((line) => !/Object\.(apply|construct)|^(apply|construct)@/.test(line)).join("\n");
    }
    throw error;
  };
  const BY_NAME = { words: chance.words, bytes: chance.bytes };
  let wordAt = 0;
  const byteAt = {};
  put(Crypto.prototype, "getRandomValues", {
    taken,
    apply(target, self, args) {
      let result;
      try {
        result = apply(target, self, args);
      } catch (error) {
        hide(error);
      }
      const [array] = args;
      const view = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      if (array instanceof Uint32Array && array.length === 1 && wordAt < BY_NAME.words.length) array[0] = BY_NAME.words[wordAt++];
      else {
        const pool = BY_NAME.bytes[view.length] ?? [];
        const given = pool[(byteAt[view.length] = (byteAt[view.length] ?? -1) + 1)];
        if (given) for (let n = 0; n < view.length; n++) view[n] = parseInt(given.slice(2 * n, 2 * n + 2), 16);
      }
      this.taken.push(`${array.constructor.name}:${view.length}`);
      return result;
    },
  });
  const elsewhere = (object, name, subject) =>
    put(object, name, {
      taken,
      apply(target, self, args) {
        this.taken.push(subject);
        try {
          return apply(target, self, args);
        } catch (error) {
          hide(error);
        }
      },
    });
  if (Crypto.prototype.randomUUID) elsewhere(Crypto.prototype, "randomUUID", "randomUUID");
  elsewhere(Math, "random", "Math.random");
  // An empty page has none.
  if (globalThis.SubtleCrypto) elsewhere(SubtleCrypto.prototype, "generateKey", "generateKey");
  // What a page hears of its elements: every event that begins outside of a shadow, or leaves it, with what it says.
  const { getRootNode } = Node.prototype;
  const { getPrototypeOf } = Object;
  const shadow = ShadowRoot.prototype;
  const isWithin = (target) => {
    try {
      return getPrototypeOf(apply(getRootNode, target, [])) === shadow;
    } catch {
      return false; // no node, such as the window
    }
  };
  put(EventTarget.prototype, "dispatchEvent", {
    taken: said,
    apply(target, self, args) {
      const [event] = args;
      if (event?.composed || !isWithin(self)) this.taken.push(`${event.type} ${JSON.stringify(event.detail ?? null)}`);
      try {
        return apply(target, self, args);
      } catch (error) {
        hide(error);
      }
    },
  });
  // What a page says to others by other ways than requests, lets time go by with, or reads a clock with.
  const text = (each) => (typeof each === "function" ? "a function" : Object(each) === each ? "an object" : String(each));
  const written = (each) => {
    try {
      return JSON.stringify(each) ?? text(each);
    } catch {
      return text(each);
    }
  };
  // What an entry of the history holds stays when the page is elsewhere in it, so it is noted when it is put there.
  const note = (path, args) => said.push(["~" + path, ...Array.from(args, path.startsWith("History") ? written : text)].join(" "));
  for (const path of chance.calls) {
    const names = path.split(".");
    const name = names.pop();
    const owner = names.reduce((found, each) => found?.[each], globalThis);
    if (typeof owner?.[name] !== "function" || !Object.getOwnPropertyDescriptor(owner, name)?.configurable) continue;
    const isClock = path === "Date"; // of a moment that is given it reads none
    const told = (args) => !(isClock && args.length) && note(path, args);
    put(owner, name, {
      apply(target, self, args) {
        told(args);
        try {
          return apply(target, self, args);
        } catch (error) {
          hide(error);
        }
      },
      construct(target, args, made) {
        told(args);
        try {
          return construct(target, args, made === owner[name] ? target : made);
        } catch (error) {
          hide(error);
        }
      },
    });
    // What is made by it says so.
    const { prototype } = owner[name];
    if (prototype && Object.hasOwn(prototype, "constructor")) Object.defineProperty(prototype, "constructor", { ...Object.getOwnPropertyDescriptor(prototype, "constructor"), value: owner[name] });
  }
  // What is set on one entry of the history, or set back at once, nobody finds later.
  for (const path of chance.setters) {
    const [owner, , name] = path.split(".");
    const found = Object.getOwnPropertyDescriptor(globalThis[owner].prototype, name);
    const setter = new Proxy(found.set, {
      apply(target, self, args) {
        note(`set ${path}`, args);
        try {
          return apply(target, self, args);
        } catch (error) {
          hide(error);
        }
      },
    });
    disguised.set(setter, found.set);
    Object.defineProperty(globalThis[owner].prototype, name, { ...found, set: setter });
  }
  // Where the browser's own protocol does not tell what is written into stores of texts, stand-ins for them do.
  const { get, set, defineProperty, deleteProperty } = Reflect;
  const pairs = tell ? { localStorage: {}, sessionStorage: {} } : {};
  const { localStorage: lasting, sessionStorage: passing } = pairs;
  const realOf = (self) => (self === lasting.standIn ? lasting.real : self === passing.standIn ? passing.real : self);
  const noting = {
    get: (store, key) => get(store, key),
    set: (store, key, value) => (note("Storage.set", [key, value]), set(store, key, value)),
    defineProperty: (store, key, how) => (note("Storage.set", [key, how.value]), defineProperty(store, key, how)),
    deleteProperty: (store, key) => (note("Storage.removeItem", [key]), deleteProperty(store, key)),
  };
  for (const name in pairs) {
    const owner = Object.hasOwn(globalThis, name) ? globalThis : Window.prototype;
    const found = Object.getOwnPropertyDescriptor(owner, name);
    const getter = new Proxy(found.get, {
      apply(target, self, args) {
        try {
          const store = apply(target, self, args);
          const pair = pairs[name];
          if (pair.real !== store) [pair.real, pair.standIn] = [store, store && new Proxy(store, noting)];
          return pair.standIn;
        } catch (error) {
          hide(error);
        }
      },
    });
    disguised.set(getter, found.get);
    Object.defineProperty(owner, name, { ...found, get: getter });
  }
  for (const name of tell ? ["getItem", "key", "setItem", "removeItem", "clear"] : []) {
    put(Storage.prototype, name, {
      apply(target, self, args) {
        if (name !== "getItem" && name !== "key") note(`Storage.${name}`, args);
        try {
          return apply(target, realOf(self), args);
        } catch (error) {
          hide(error);
        }
      },
    });
  }
  put(Function.prototype, "toString", {
    apply(target, self, args) {
      try {
        return apply(target, apply(own, disguised, [self]) ?? self, args);
      } catch (error) {
        hide(error);
      }
    },
  });
}
