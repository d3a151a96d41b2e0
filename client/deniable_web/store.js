//@ts-check
/*
 * Where a device's memory lies: one record in IndexedDB, which is read and written within one transaction.
 *
 * Browsers run transactions that write one after the other, whichever tab or process began them, and keep all of one
 * or nothing. Web locks over localStorage would not do: processes learn each other's localStorage late, a lock sooner,
 * and pages over plain http have no locks.
 */

import { DeniableError, UnusableMemory } from "./errors.js";

/**
 * @typedef {object} State What a device remembers. Never an answer. Its form is part of docs/device.md.
 * @property {Record<string, { report: string, to: Record<string, boolean> }>} reports the very text that is sent, by
 *   survey, or on a shared device by survey and person; the collectors it is for, and whether they have it
 * @property {Record<string, number | string>} noisy the noisy value of a question, or the JSON of those of a group, by its
 *   key; by the key and "draw", which questions of a group are asked
 * @property {Record<string, Record<string, [string, number]>>} told by collector's origin and that key, since which
 *   day, and what it cost in millionths; several days, the earliest first, where the clock was ahead or went back
 * @property {Record<string, import("./tokens.js").Token>} [tokens] the token of a survey, or
 *   what asks for it, by survey, or on a shared device by survey and invitation, until there is a report
 */

/**
 * @typedef {object} Store
 * @property {boolean} lasts whether what is kept outlives the page
 * @property {<T>(act: (state: State, isNew?: boolean) => T, isLook?: boolean) => Promise<T>} run hand what is kept to `act`, and
 *   keep what that made of it, unless it only looks, all in one step; `isNew` says that there was no database. What `act`
 *   throws keeps nothing; what it cannot make sense of is damaged.
 * @property {() => void} [stay] ask that what is kept is not cleared when the disk is full
 * @property {() => Promise<boolean>} [isMarked] whether there is a mark of a memory beside the database
 * @property {() => Promise<void>} [clear] delete everything, and the database with it
 */

/** @returns {State} */
export const nothing = () => ({ reports: {}, noisy: {}, told: {} });

/** What cannot be stored lives as long as the page does, for all scripts of this client in it. @type {any} */
const page = globalThis;
const PLACE = Symbol.for("deniable");

/**
 * The database. Who only looks makes none: a page that somebody leaves without an answer leaves nothing behind.
 * @param {boolean} [isLook] @returns {Promise<IDBDatabase | undefined>} nothing where there was none to look at
 */
const open = (isLook) =>
  new Promise((done, fail) => {
    const request = indexedDB.open("deniable", 1);
    request.onupgradeneeded = () => {
      if (isLook) done(void request.transaction?.abort());
      else request.result.createObjectStore("memory");
    };
    request.onsuccess = () => done(request.result);
    request.onerror = fail;
  });

/** Whether storage is blocked as a whole: merely naming it throws there. */
function isBlocked() {
  try {
    return !localStorage;
  } catch {
    return true;
  }
}

/**
 * Marks beside the database, in stores that browsers may clear apart from it. They hold nothing: where one is there and the
 * database is not, a memory was lost. Whoever clears all stores at once clears the marks, too.
 */
const MARK = "deniable";
const { caches } = globalThis;

/** The store of texts, where a browser lets a page have it. @returns {Partial<Storage>} */
function texts() {
  try {
    return localStorage;
  } catch {
    return {};
  }
}

function leaveMarks() {
  try {
    texts().setItem?.(MARK, "");
  } catch {
    // no room, and the memory itself is there
  }
  caches?.open(MARK).catch(() => {}); // where pages came over plain http there is none
}

/** @type {Store} */
export const browserStore = {
  lasts: true,
  stay() {
    // Some browsers ask the person; others refuse in frames, or do not know of it. Nothing waits for what comes of it.
    if (this.lasts) globalThis.navigator?.storage?.persist?.().catch(() => {});
  },
  isMarked: async () => texts().getItem?.(MARK) === "" || !!(await caches?.has(MARK).catch(() => {})),
  clear() {
    page[PLACE] = undefined;
    texts().removeItem?.(MARK);
    caches?.delete(MARK).catch(() => {});
    return new Promise((done, fail) => {
      const request = indexedDB.deleteDatabase("deniable");
      request.onsuccess = () => done();
      request.onerror = fail;
    });
  },
  async run(act, isLook) {
    const db = await open(isLook).catch(() => {
      // Storage that is there and fails is no reason to draw again.
      if (!isBlocked()) throw new UnusableMemory();
      this.lasts = false;
    });
    if (!db) {
      const state = structuredClone(page[PLACE] ?? nothing());
      const result = act(state, true);
      if (!isLook) page[PLACE] = structuredClone(state); // what was given away may change, and does not change this
      return result;
    }
    try {
      return await new Promise((done, fail) => {
        const transaction = db.transaction("memory", isLook ? "readonly" : "readwrite", { durability: "strict" });
        const records = transaction.objectStore("memory");
        /** @type {any} */
        let result;
        transaction.oncomplete = () => {
          if (!isLook) leaveMarks();
          done(result); // on the disk, and only then sent
        };
        transaction.onabort = fail; // after the first failure it says nothing
        records.get(0).onsuccess = ({ target }) => {
          try {
            const state = /** @type {IDBRequest} */ (target).result ?? nothing();
            result = act(state);
            if (!isLook) records.put(state, 0);
          } catch (error) {
            fail(error);
            transaction.abort();
          }
        };
      });
    } catch (error) {
      throw error instanceof DeniableError ? error : new UnusableMemory();
    } finally {
      db.close();
    }
  },
};

/**
 * A memory that ends with the page. It begins with what the device knows, so that nothing is drawn a second time and every
 * ceiling holds, and it writes nothing back.
 * @param {Store} known @returns {Store}
 */
export function fleetingStore(known) {
  /** @type {State} */
  let state;
  /** @type {Promise<unknown> | undefined} */
  let begun;
  return {
    lasts: false,
    async run(act, isLook) {
      await (begun ??= known.run((kept) => (state = structuredClone(kept)), true));
      const next = structuredClone(state); // what throws keeps nothing
      const result = act(next);
      if (!isLook) state = next;
      return result;
    },
  };
}
