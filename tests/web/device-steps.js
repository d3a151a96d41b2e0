/* Does steps on a device's memory, as tests/support/device_model.py writes them: from a file of vectors or standard input. */

import { UnusableMemory, Memory, parseSurvey } from "../../client/deniable_web/index.js";
import { nothing } from "../../client/deniable_web/store.js";
import { bytes, tape } from "./helpers.js";

/** A store that keeps texts, and fails when it is told to. Steps may interleave, as those of tabs do. */
export function fakeStore() {
  const store = {
    lasts: true,
    text: /** @type {string | undefined} */ (undefined),
    fault: /** @type {string | null} */ (null),
    async run(act, isLook) {
      await 0; // other tabs
      const { fault } = store;
      const state = store.text ? JSON.parse(store.text) : nothing();
      const result = attempt(act, state);
      if (isLook) return result;
      if (fault === "write") throw new UnusableMemory();
      store.text = JSON.stringify(state);
      if (fault === "crash") throw new Error("crash");
      return result;
    },
  };
  return store;
}

/** As the browser's store does: what cannot be made sense of is damaged. */
function attempt(act, state) {
  try {
    return act(state);
  } catch (error) {
    throw error instanceof TypeError || error instanceof SyntaxError ? new UnusableMemory() : error;
  }
}

/** What the steps of one device come to, where it is not as expected. */
export async function differences(documents, steps) {
  const surveys = await Promise.all(documents.map((document) => parseSurvey(bytes(document))));
  const store = fakeStore();
  const found = [];
  for (const step of steps) {
    const memory = new Memory(store); // a tab of its own
    const outcome = await one(memory, store, await withWords(surveys[step.survey], step.words), step);
    if (JSON.stringify(outcome) !== JSON.stringify(step.expect)) found.push({ step, outcome });
  }
  return found;
}

/** The same survey, whose waves are drawn with these words. */
async function withWords(survey, words = []) {
  const word = tape(words);
  const units = (await survey.keyed()).map((unit) => {
    const { mechanism } = unit;
    const instantaneous = { value: (value) => mechanism.instantaneous(value, word) };
    return { ...unit, mechanism: Object.create(mechanism, { instantaneous }) };
  });
  return { ...survey, units, keyed: async () => units };
}

const NAMES = { BudgetError: "budget", UnusableMemory: "memory" };

async function one(memory, store, survey, { act, collector, day, report, drawn, fault }) {
  store.fault = fault ?? null;
  const draw = () => {
    if (!report) throw new Error("draw");
    return report;
  };
  try {
    if (act === "sent") {
      await memory.markSent(survey.id, collector);
      return { result: null };
    }
    if (act === "ask") {
      const asked = await memory.asked(survey, () => new Set(drawn));
      return { result: survey.questions.map(({ id }) => id).filter((id) => asked.has(id)) };
    }
    if (act === "look") {
      const seen = await memory.look(survey, collector, false, day);
      const totals = seen.totals.map((total) => Math.round(1e6 * total));
      return { result: [seen.kept ?? null, !!seen.isSent, ...totals, seen.hasTold, seen.isSame] };
    }
    return { result: await memory.once(survey, collector, draw, undefined, undefined, day) };
  } catch (error) {
    return { error: NAMES[error.name] ?? error.message };
  }
}
