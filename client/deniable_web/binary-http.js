//@ts-check
/* Binary HTTP messages (RFC 9292): requests written with known lengths, requests and responses read in both forms. */

import { demand } from "./mechanisms/base.js";
import { utf8 } from "./sha.js";

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {[string, string][]} Fields names in lower case, and values */

/** A variable-length integer (RFC 9000, section 16), below 2**30. @param {number} n */
const integer = (n) =>
  n < 64 ? [n] : n < 16384 ? [64 | (n >> 8), n & 255] : [128 | (n >> 24), (n >> 16) & 255, (n >> 8) & 255, n & 255];

/** What stands behind its length. @param {ArrayLike<number>} bytes */
const part = (bytes) => [...integer(bytes.length), ...Array.from(bytes)];

/** @param {string} text */
const text = (text) => part(utf8(text));

/**
 * A request, padded with zeros.
 * @param {string[]} control method, scheme, authority and path @param {Fields} fields @param {Bytes} content
 * @param {number} [multiple] of which its length becomes one
 */
export function encodeRequest(control, fields, content, multiple = 1) {
  const head = [0, ...control.flatMap(text), ...part(fields.flatMap((line) => line.flatMap(text)))];
  const message = [...head, ...part(content), 0]; // no trailers
  const padded = new Uint8Array(Math.ceil(message.length / multiple) * multiple);
  padded.set(message);
  return padded;
}

/** Reads the parts of a message, one after the other; throws where they are none. @param {Bytes} bytes */
function reading(bytes) {
  let at = 0;
  const isAt = () => at === bytes.length;
  const take = (/** @type {number} */ size) => {
    demand(at + size <= bytes.length);
    return bytes.slice(at, (at += size));
  };
  const next = () => {
    const [first = 0] = take(1);
    return take((1 << (first >> 6)) - 1).reduce((all, each) => all * 256 + each, first & 63);
  };
  const string = () => String.fromCharCode(...take(next()));
  const framing = next();
  const isKnown = framing < 2;
  /** Field lines, to the end where the length of all was known, else to a name without a length. @returns {Fields} */
  const lines = () => {
    /** @type {Fields} */
    const fields = [];
    let isRegular = false;
    while (!isKnown || !isAt()) {
      const name = string();
      if (!name && !isKnown) break;
      const value = string();
      const isPseudo = name[0] === ":";
      demand(/^:?[\w!#$%&'*+.^`|~-]+$/.test(name) && name === name.toLowerCase() && !/[\0\r\n]|^[ \t]|[ \t]$/.test(value));
      // What stands in the control data has no field, and pseudo-fields stand first.
      demand(!isPseudo || (!isRegular && !/^:(method|scheme|authority|path|status)$/.test(name)));
      isRegular ||= !isPseudo;
      fields.push([name, value]);
    }
    return fields;
  };
  /** A field section; an empty one where the message ends before it. @returns {Fields} */
  const section = () => {
    if (isAt() || !isKnown) return isAt() ? [] : lines();
    const size = next();
    const whole = bytes;
    demand(at + size <= bytes.length);
    bytes = bytes.slice(0, at + size);
    const fields = lines();
    bytes = whole;
    return fields;
  };
  const body = () => {
    if (isAt() || isKnown) return take(isAt() ? 0 : next());
    const chunks = [];
    for (let size; (size = next()); ) chunks.push(...take(size));
    return Uint8Array.from(chunks);
  };
  const rest = () => {
    const found = { fields: section(), content: body(), trailers: section() };
    demand(bytes.slice(at).every((each) => !each)); // padding
    return found;
  };
  return { framing, next, string, section, rest };
}

/** Read a request: method, scheme, authority and path, and what stands behind. @param {Bytes} bytes */
export function parseRequest(bytes) {
  const { framing, string, rest } = reading(bytes);
  const control = [string(), string(), string(), string()];
  demand(framing % 2 === 0 && framing < 4 && control[0] && control[1]);
  return { control, ...rest() };
}

/** Read a response, with the informational ones before it. @param {Bytes} bytes */
export function parseResponse(bytes) {
  const { framing, next, section, rest } = reading(bytes);
  demand(framing === 1 || framing === 3);
  /** @type {[number, Fields][]} */
  const early = [];
  let status;
  while ((status = next()) < 200) {
    demand(status >= 100);
    early.push([status, section()]);
  }
  demand(status < 600);
  return { status, early, ...rest() };
}
