//@ts-check
/* What dist/deniable.js is made of: the elements, and what a page's own script needs of the library. */

export { checkCeiling } from "./ceiling.js";
export { fetchSurvey, submit } from "./collector.js";
export { encodeReport, randomize } from "./device.js";
import "./define.js";
