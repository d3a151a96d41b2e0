//@ts-check
/* What dist/deniable-told.js is made of: <deniable-told>, for a collector's page on what a device has told. */

import { register } from "./base-element.js";
import { DeniableTold } from "./told.js";

register("deniable-told", DeniableTold);
