// Writes what the browser client sends of several surveys, one after another, from one device a person:
// node waves.mjs FOLDER REQUEST.JSON prints for each person a line of JSON, a list of values for each survey.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, request] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}`).href);
const [{ parseSurvey }, { randomize }, { Memory }] = await Promise.all(["survey.js", "device.js", "memory.js"].map(load));
const { documents, collector, people } = JSON.parse(readFileSync(request, "utf8"));
const surveys = await Promise.all(documents.map((each) => parseSurvey(new TextEncoder().encode(each))));

/** A device's memory without a browser: one record, read and written in one step. */
const store = () => {
  let state = { reports: {}, noisy: {}, told: {} };
  return {
    lasts: true,
    run(act, isLook) {
      const next = structuredClone(state);
      const result = act(next);
      if (!isLook) state = next;
      return Promise.resolve(result);
    },
  };
};

for (const { answers, times } of people) {
  for (let person = 0; person < times; person++) {
    const memory = new Memory(store());
    const sent = [];
    for (const survey of surveys) {
      const asked = await memory.asked(survey);
      const given = Object.fromEntries(Object.entries(answers).filter(([id]) => asked.has(id)));
      const text = await memory.once(survey, collector, (isKept) => randomize(survey, given, { isKept, asked }));
      sent.push(JSON.parse(text).values);
    }
    process.stdout.write(`${JSON.stringify(sent)}\n`);
  }
}
