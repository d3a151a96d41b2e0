//@ts-check
/*
 * Oblivious HTTP (RFC 9458): what a relay passes on and cannot read, to a gateway that does not see who asks. Requests are
 * sealed to the key of the week that the survey publishes, so that nobody can give one device a key of its own.
 */

import { encodeRequest, parseResponse } from "./binary-http.js";
import { algorithmsOf, exported, hmac, joined, sealWith, setup } from "./hpke.js";
import { keyOf } from "./sealed.js";
import { utf8 } from "./sha.js";

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */

/** Requests are padded to a multiple of this number of bytes, so that their lengths tell a relay next to nothing. */
const PADDED = 1024;
/** Length of the key of a response, and of what is random in it, in bytes. */
const KEY = 16;

/**
 * A binary request as it is sent (section 4.3), and what reads the response to it (section 4.4).
 * @param {number} identifier of the key @param {Bytes} key @param {Bytes} request @param {CryptoKeyPair} [pair] for tests
 */
export async function encapsulate(identifier, key, request, pair) {
  const header = joined(Uint8Array.of(identifier), algorithmsOf(key.length));
  const context = await setup(key, joined(utf8("message/bhttp request\0"), header), pair);
  /** @param {Bytes} response @returns {Promise<Bytes>} throws where it was made for another request */
  const open = async (response) => {
    const prk = await hmac(joined(context.enc, response.slice(0, KEY)), await exported(context, "message/bhttp response", KEY));
    const expand = (/** @type {string} */ label) => hmac(prk, joined(utf8(label), Uint8Array.of(1)));
    const raw = (await expand("key")).slice(0, KEY);
    const iv = (await expand("nonce")).slice(0, 12);
    const own = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["decrypt"]);
    return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, own, response.slice(KEY)));
  };
  return { message: joined(header, context.enc, await sealWith(context, request)), open };
}

/**
 * What asks like `fetch`, by the gateway of a survey.
 * @param {{ id: string, sealed: import("./sealed.js").Sealed }} survey @param {string} way to its collector, by a place
 * @param {typeof globalThis.fetch} [ask] @returns {typeof globalThis.fetch}
 */
export const byGateway = ({ id, sealed }, way, ask = fetch) =>
  async (url, { method = "GET", headers, body, ...more } = {}) => {
    const [, authority, path] = /** @type {RegExpExecArray} */ (/\/via\/([^/]+)(.*)/.exec(String(url)));
    const lines = Object.entries(/** @type {Record<string, string>} */ (headers)).map(([name, value]) => /** @type {[string, string]} */ ([name.toLowerCase(), value]));
    const request = encodeRequest([method, "https", authority, path], lines, utf8(String(body ?? "")), PADDED);
    const { message, open } = await encapsulate(...keyOf(sealed, Date.now()), request);
    const outer = await ask(`${way}/api/v1/surveys/${id}/gateway`, { ...more, method: "POST", headers: { "Content-Type": "message/ohttp-req" }, body: message });
    // Without that, it is an answer of the relay, or of a gateway that could not open it.
    if (outer.headers.get("Content-Type") !== "message/ohttp-res") return outer;
    const { status, fields, content } = parseResponse(await open(new Uint8Array(await outer.arrayBuffer())));
    return new Response(content, { status, headers: fields });
  };
