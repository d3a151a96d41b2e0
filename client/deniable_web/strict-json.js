//@ts-check
/* JSON in the one form that Deniable writes. */

import { digits } from "./randomness.js";

/**
 * Write JSON as Python's json.dumps(..., ensure_ascii=True) does, without spaces.
 *
 * JSON.stringify already escapes quotes, control characters and lone surrogates in Python's way; what is left
 * is every other code unit above "~", U+007F included. The keys keep their order.
 * @param {unknown} value
 */
export const dumps = (value) => JSON.stringify(value).replace(/[\x7f-\uffff]/g, (unit) => "\\u" + digits(unit.charCodeAt(0), 4));
