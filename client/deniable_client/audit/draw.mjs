// Writes reports as the browser client encodes them, one on a line: node draw.mjs INDEX.JS REQUEST.JSON
import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [index, request] = process.argv.slice(2);
const { encodeReport, parseSurvey, randomize } = await import(pathToFileURL(index).href);
const { document, answers, n } = JSON.parse(readFileSync(request, "utf8"));
const survey = await parseSurvey(new TextEncoder().encode(document));

for (let drawn = 0; drawn < n; ) {
  const lines = [];
  for (; drawn < n && lines.length < 2000; drawn++) lines.push(encodeReport(randomize(survey, answers)));
  let rest = Buffer.from(lines.join("\n") + "\n");
  while (rest.length) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error; // the reader is slower than this; try again
    }
  }
}
