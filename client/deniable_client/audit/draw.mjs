// Writes reports as the browser client encodes them, one on a line behind the nanoseconds that it took and the chance
// that it drew: node draw.mjs INDEX.JS REQUEST.JSON CODES RIGHTS
import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [index, request, file, rights] = process.argv.slice(2);
const { document, answers, cohorts, record, right } = JSON.parse(readFileSync(request, "utf8"));

/** What the client takes from the browser's source of chance, call by call, in hexadecimal. */
const taken = [];
if (record) {
  const source = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (array) => {
    source(array);
    taken.push(Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("hex"));
    return array;
  };
}

const { encodeReport, parseSurvey, randomize } = await import(pathToFileURL(index).href);
const survey = await parseSurvey(new TextEncoder().encode(document));

// Codes are 16-bit: the number of each question's answer, and of the cohort.
const bytes = readFileSync(file);
const codes = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
const width = answers.length + 1;

// What each report carries to be counted was there before its answers.
const own = readFileSync(rights);
const { before, after, size } = right;
const credentialOf = (number) => (size ? before + own.toString("hex", number * size, (number + 1) * size) + after : undefined);

for (let at = 0; at < codes.length; ) {
  const lines = [];
  for (; at < codes.length && lines.length < 2000; at += width) {
    const all = answers.map((each, n) => [each.id, each.given[codes[at + n]]]);
    const given = Object.fromEntries(all.filter(([, answer]) => answer !== null)); // to what does not apply there is no answer
    const cohort = cohorts[codes[at + width - 1]];
    const credential = credentialOf(at / width);
    taken.length = 0;
    const start = process.hrtime.bigint();
    const report = encodeReport(randomize(survey, given, { cohort, credential }));
    const took = process.hrtime.bigint() - start;
    lines.push(`${took} ${record ? taken.map((each) => `${each},`).join("") : "-"} ${report}`);
  }
  let rest = Buffer.from(lines.join("\n") + "\n");
  while (rest.length) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error; // the reader is slower than this; try again
    }
  }
}
