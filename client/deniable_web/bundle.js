//@ts-check
/* What dist/deniable.js is made of: <deniable-survey>, and what a page's own script needs of the library. */

import { register } from "./base-element.js";
import { DeniableSurvey } from "./element.js";

export { checkCeiling } from "./ceiling.js";
export { fetchSurvey, submit } from "./collector.js";
export { encodeReport, randomize } from "./device.js";

register("deniable-survey", DeniableSurvey);
