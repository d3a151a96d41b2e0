//@ts-check
/* What dist/deniable.js is made of: <deniable-survey>. Reports are sealed, and gateways asked, at places alone. */

import { register } from "./base-element.js";
import { DeniableSurvey } from "./element.js";
import { framed } from "./framed.js";
import { paste } from "./paste.js";
import { newToken, signedToken } from "./tokens.js";
import { ways } from "./ways.js";

Object.assign(ways, { frame: framed, paste, tokens: async () => ({ newToken, signedToken }) });
register("deniable-survey", DeniableSurvey);
