//@ts-check
/* Registers <deniable-survey>. The class stands apart, so that a page may register it under another name. */

import { DeniableSurvey } from "./element.js";

if (!customElements.get("deniable-survey")) customElements.define("deniable-survey", DeniableSurvey);
