//@ts-check
/* JSON in the one form that Deniable writes. */

import { digits } from "./randomness.js";

/**
 * Write JSON as Python's json.dumps(..., ensure_ascii=True) does, without spaces.
 *
 * JSON.stringify already escapes quotes, control characters and lone surrogates in Python's way; what is left
 * is every other code unit above "~", U+007F included. The keys keep their order.
 * @param {unknown} value @param {(key: string, value: unknown) => unknown} [replacer]
 */
export const dumps = (value, replacer) => JSON.stringify(value, replacer).replace(/[\x7f-\uffff]/g, (unit) => "\\u" + digits(unit.charCodeAt(0), 4));
