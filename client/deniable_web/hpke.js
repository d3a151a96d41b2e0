//@ts-check
/*
 * Sealing, HPKE (RFC 9180): one message to one public key, in base mode, and secrets from its context. DHKEM of P-256 or X25519, HKDF-SHA256, AES-128-GCM.
 *
 * The names are those of the RFC. Its own examples are in tests/vectors/standards.
 */

import { utf8 } from "./sha.js";

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {Awaited<ReturnType<typeof setup>>} Context */

/** A suite by the length of its public keys: the number of its KEM, and how WebCrypto calls it. @type {Record<number, [number, any]>} */
const KEMS = { 65: [0x10, { name: "ECDH", namedCurve: "P-256" }], 32: [0x20, { name: "X25519" }] };
const EMPTY = utf8("");

/** @param {Bytes[]} parts @returns {Bytes} */
export const joined = (...parts) => Uint8Array.from(parts.flatMap((each) => [...each]));

/** HMAC-SHA-256. @param {Bytes} key @param {Bytes} message @returns {Promise<Bytes>} */
export async function hmac(key, message) {
  const how = { name: "HMAC", hash: "SHA-256" };
  // No key is empty in WebCrypto. HMAC fills a shorter one with zeros, so 32 of them are the empty one.
  const imported = await crypto.subtle.importKey("raw", key.length ? key : new Uint8Array(32), how, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, message));
}

/** LabeledExtract and LabeledExpand of a suite (section 4). @param {Bytes} suite */
const kdf = (suite) => ({
  extract: (/** @type {Bytes} */ salt, /** @type {string} */ label, /** @type {Bytes} */ ikm) =>
    hmac(salt, joined(utf8("HPKE-v1"), suite, utf8(label), ikm)),
  // No output here is longer than one block of HKDF-Expand.
  expand: async (/** @type {Bytes} */ prk, /** @type {string} */ label, /** @type {Bytes} */ info, /** @type {number} */ length) =>
    (await hmac(prk, joined(Uint8Array.of(0, length), utf8("HPKE-v1"), suite, utf8(label), info, Uint8Array.of(1)))).slice(0, length),
});

/**
 * A context for one message to a public key (SetupBaseS, section 5.1.1).
 * @param {Bytes} pkR the public key of the recipient, 65 bytes of P-256 or 32 of X25519
 * @param {Bytes} info what the message is bound to @param {CryptoKeyPair} [pair] the ephemeral key, for tests
 */
export async function setup(pkR, info, pair) {
  const { subtle } = crypto;
  const [id, curve] = KEMS[pkR.length];
  const kem = Uint8Array.of(0, id);
  const { privateKey, publicKey } = pair ?? /** @type {CryptoKeyPair} */ (await subtle.generateKey(curve, false, ["deriveBits"]));
  const recipient = await subtle.importKey("raw", pkR, curve, false, []);
  const dh = new Uint8Array(await subtle.deriveBits({ name: curve.name, public: recipient }, privateKey, 256));
  const enc = new Uint8Array(await subtle.exportKey("raw", publicKey));
  const encap = kdf(joined(utf8("KEM"), kem)); // section 4.1
  const shared = await encap.expand(await encap.extract(EMPTY, "eae_prk", dh), "shared_secret", joined(enc, pkR), 32);
  const { extract, expand } = kdf(joined(utf8("HPKE"), algorithmsOf(pkR.length))); // KeySchedule, section 5.1
  const context = joined(
    Uint8Array.of(0), // mode_base
    await extract(EMPTY, "psk_id_hash", EMPTY),
    await extract(EMPTY, "info_hash", info),
  );
  const secret = await extract(shared, "secret", EMPTY);
  /** What both sides know, by its name. @param {string} label @param {number} length */
  const derived = (label, length) => expand(secret, label, context, length);
  return { enc, derived, expand };
}

/** The first message of a context, and the only one. @param {Context} context @param {Bytes} plaintext @param {Bytes} [aad] @returns {Promise<Bytes>} */
export async function sealWith({ derived }, plaintext, aad = EMPTY) {
  const key = await crypto.subtle.importKey("raw", await derived("key", 16), "AES-GCM", false, ["encrypt"]);
  const iv = await derived("base_nonce", 12);
  return new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: aad }, key, plaintext));
}

/** A secret of a context (Export, section 5.3). @param {Context} context @param {string} label @param {number} length */
export const exported = async ({ derived, expand }, label, length) => expand(await derived("exp", 32), "sec", utf8(label), length);

/** The identifiers of KEM, KDF and AEAD, by the length of a public key. @param {number} length */
export const algorithmsOf = (length) => Uint8Array.of(0, KEMS[length][0], 0, 1, 0, 1);

/**
 * Seal a message: the encapsulated key, and the ciphertext behind it (SealBase, section 6.1).
 * @param {Bytes} pkR @param {Bytes} info @param {Bytes} plaintext
 * @param {CryptoKeyPair} [pair] @param {Bytes} [aad] @returns {Promise<Bytes>}
 */
export async function seal(pkR, info, plaintext, pair, aad) {
  const context = await setup(pkR, info, pair);
  return joined(context.enc, await sealWith(context, plaintext, aad));
}
