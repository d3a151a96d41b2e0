//@ts-check
/* What dist/deniable.js is made of: <deniable-survey> up to Start. Surveys with sealed reports show in a frame, or at places. */

import { register } from "./base-element.js";
import { answering } from "./beside.js";
import { DeniableSurvey } from "./element.js";
import { framed } from "./framed.js";
import { paste } from "./paste.js";
import { ways } from "./ways.js";

Object.assign(ways, { answering, frame: framed, paste });
register("deniable-survey", DeniableSurvey);
