//@ts-check
/* What dist/deniable-answering.js is made of: all that a survey needs from Start on. Every page loads it beside its first script. */

export { Visit } from "./visit.js";
