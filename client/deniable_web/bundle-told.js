//@ts-check
/* What dist/deniable-told.js is made of: <deniable-told>, for the page on what a device has told, so that no survey loads it. */

import { register } from "./base-element.js";
import { DeniableTold } from "./told.js";

register("deniable-told", DeniableTold);
