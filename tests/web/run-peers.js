/*
 * Puts our messages before other implementations, and theirs before ours: panva's hpke, bhttp-js and privacypass-ts. Reads what
 * Python made from standard input, and prints what the others made of it, what they made for Python, and how often
 * JavaScript's own differed from theirs.
 */

import { constants, createPrivateKey, privateEncrypt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { encodeRequest, parseRequest, parseResponse } from "../../client/deniable_web/binary-http.js";
import { exported, sealWith, setup } from "../../client/deniable_web/hpke.js";
import { parseSurvey } from "../../client/deniable_web/index.js";
import { bytesOf } from "../../client/deniable_web/randomness.js";
import { newToken, signedToken } from "../../client/deniable_web/tokens.js";
import { bytes } from "./helpers.js";
import { hex } from "./keys.js";

const web = createRequire(new URL("../../client/deniable_web/package.json", import.meta.url));
const HPKE = await import(web.resolve("hpke"));
const { BHttpDecoder, BHttpEncoder } = await import(web.resolve("bhttp-js"));
const { TOKEN_TYPES, Token, TokenChallenge, publicVerif } = await import(web.resolve("@cloudflare/privacypass-ts"));

const given = JSON.parse(readFileSync(0, "utf8"));
const raw = (/** @type {string} */ text) => Uint8Array.from(Buffer.from(text, "hex"));
const random = (/** @type {number} */ size) => crypto.getRandomValues(new Uint8Array(size));
const upTo = (/** @type {number} */ most) => Math.floor(Math.random() * (most + 1));
const LABEL = "message/bhttp response";
const told = { mismatches: 0, opened: [], made: [], decoded: [], encoded: [], signatures: [], tokens: [] };
const same = (/** @type {boolean} */ isSame) => (told.mismatches += isSame ? 0 : 1);

/** HPKE: what Python sealed, what the other seals for Python, and what we seal for the other. */
async function hpke({ kem, skR, pkR, sealed }) {
  const kems = { p256: HPKE.KEM_DHKEM_P256_HKDF_SHA256, x25519: HPKE.KEM_DHKEM_X25519_HKDF_SHA256 };
  const suite = new HPKE.CipherSuite(kems[kem], HPKE.KDF_HKDF_SHA256, HPKE.AEAD_AES_128_GCM);
  const [privateKey, publicKey] = [await suite.DeserializePrivateKey(raw(skR)), await suite.DeserializePublicKey(raw(pkR))];
  const open = async (enc, info, ct) => {
    const context = await suite.SetupRecipient({ privateKey, publicKey }, enc, { info });
    return [hex(await context.Open(ct)), hex(await context.Export(bytes(LABEL), 16))];
  };
  for (const { info, enc, ct } of sealed) {
    told.opened.push(await open(raw(enc), raw(info), raw(ct)));
    const [own, theirs, pt] = [random(upTo(40)), random(upTo(40)), random(upTo(2000))];
    const ours = await setup(raw(pkR), own);
    const opened = await open(ours.enc, own, await sealWith(ours, pt));
    same(opened[0] === hex(pt) && opened[1] === hex(await exported(ours, LABEL, 16)));
    const { encapsulatedSecret, ctx } = await suite.SetupSender(publicKey, { info: theirs });
    const made = [theirs, encapsulatedSecret, await ctx.Seal(pt), pt, await ctx.Export(bytes(LABEL), 16)];
    told.made.push([kem, ...made.map(hex)]);
  }
}

/** A message as fetch has it, in the form of ours. */
const plain = async (message) => {
  const rest = { fields: [...message.headers].sort(), content: hex(new Uint8Array(await message.arrayBuffer())) };
  if (message instanceof Response) return { status: message.status, ...rest };
  const { protocol, host, pathname } = new URL(message.url);
  return { control: [message.method, protocol.slice(0, -1), host, pathname], ...rest };
};

/** Binary HTTP: what Python wrote, read by the other and by us; what the other writes, read by us and by Python. */
async function binary({ message, control, status, fields, content }) {
  const body = raw(content);
  const read = control ? parseRequest(raw(message)) : parseResponse(raw(message));
  same(JSON.stringify([read.control ?? read.status, read.fields, hex(read.content)]) === JSON.stringify([control ?? status, fields, content]));
  const decoder = new BHttpDecoder();
  told.decoded.push(await plain(control ? decoder.decodeRequest(raw(message)) : decoder.decodeResponse(raw(message))));
  const how = { headers: fields, ...(body.length && { body }) };
  const theirs = control
    ? await new BHttpEncoder().encodeRequest(new Request(`${control[1]}://${control[2]}${control[3]}`, { method: control[0], ...how }))
    : await new BHttpEncoder().encodeResponse(new Response(body.length ? body : null, { status, headers: fields }));
  told.encoded.push(hex(theirs));
  const found = control ? parseRequest(theirs) : parseResponse(theirs);
  same(hex(found.content) === content && JSON.stringify(found.fields) === JSON.stringify(fields));
  if (control) same(hex(encodeRequest(control, fields, body)) === message);
}

/** Blind tokens: Python's and ours are signed by the other's issuer, and accepted by its origin. */
async function tokens({ document, pem, requests }) {
  const survey = await parseSurvey(bytes(document));
  const jwk = createPrivateKey(pem).export({ format: "jwk" });
  const PSS = { name: "RSA-PSS", hash: "SHA-384" };
  const privateKey = await crypto.subtle.importKey("jwk", jwk, PSS, true, ["sign"]);
  const publicKey = await crypto.subtle.importKey("jwk", { kty: "RSA", n: jwk.n, e: jwk.e }, PSS, true, ["verify"]);
  const mode = publicVerif.BlindRSAMode.PSS;
  const issuer = new publicVerif.Issuer(mode, "collector", privateKey, publicKey);
  const key = bytesOf(survey.issuer.key);
  const keyId = new Uint8Array(await crypto.subtle.digest("SHA-256", key)).at(-1);
  // The other's issuer takes a second for a signature: where there are many, it makes the first ones, and OpenSSL the same.
  const signed = async (/** @type {Uint8Array} */ blinded, isFirst = false) => {
    const made = privateEncrypt({ key: pem, padding: constants.RSA_NO_PADDING }, blinded);
    const request = new publicVerif.TokenRequest(keyId, blinded, TOKEN_TYPES.BLIND_RSA);
    if (isFirst) same(hex((await issuer.issue(request)).blindSig) === hex(made));
    return hex(made);
  };
  const isMany = requests.length > 100;
  for (const [n, blinded] of requests.entries()) {
    told.signatures.push(await signed(raw(blinded), isMany && n === 0));
    const own = await newToken(survey);
    const token = await signedToken(survey, { ...own, signature: await signed(bytesOf(own.blinded), isMany && n === 0) });
    same(await new publicVerif.Origin(mode).verify(Token.deserialize(TOKEN_TYPES.BLIND_RSA, bytesOf(token)), publicKey));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(document)));
    const challenge = new TokenChallenge(TOKEN_TYPES.BLIND_RSA.value, "collector", digest);
    const client = new publicVerif.Client(mode);
    const request = await client.createTokenRequest(challenge, key);
    const response = publicVerif.TokenResponse.deserialize(raw(await signed(request.blindedMsg)));
    told.tokens.push(hex((await client.finalize(response)).serialize()));
  }
}

for (const each of given.hpke) await hpke(each);
for (const each of given.binary) await binary(each);
await tokens(given.tokens);
console.log(JSON.stringify(told));
