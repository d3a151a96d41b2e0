//@ts-check
/* Registers the elements. Their classes stand apart, so that a page may register them under other names. */

import { DeniableSurvey } from "./element.js";
import { DeniableQuestion } from "./question.js";

for (const [name, element] of /** @type {const} */ ([
  ["deniable-survey", DeniableSurvey],
  ["deniable-question", DeniableQuestion],
])) {
  if (globalThis.customElements && !customElements.get(name)) customElements.define(name, element);
}
