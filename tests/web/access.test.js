import assert from "node:assert/strict";
import { constants, createPublicKey, generateKeyPairSync, privateEncrypt, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";

import { blind, finalize } from "../../client/deniable_web/blind-rsa.js";
import {
  CollectorError,
  Memory,
  NotInvited,
  ReportConflict,
  ReportError,
  SurveyClosed,
  SurveyError,
  address,
  buyToken,
  encodeReport,
  parseSurvey,
  randomize,
} from "../../client/deniable_web/index.js";
import { bytesOf, random } from "../../client/deniable_web/randomness.js";
import { newToken, signedToken } from "../../client/deniable_web/tokens.js";
import { fakeStore } from "./device-steps.js";
import { bytes, vectors } from "./helpers.js";

const web = createRequire(new URL("../../client/deniable_web/package.json", import.meta.url));
const { RSABSSA } = await import(web.resolve("@cloudflare/blindrsa-ts"));
const { TOKEN_TYPES, Token, TokenChallenge, publicVerif } = await import(web.resolve("@cloudflare/privacypass-ts"));

const { blind_rsa: signatures, privacy_pass: tokens } = vectors("standards/blind_rsa");
const hex = (/** @type {Uint8Array} */ given) => Buffer.from(given).toString("hex");
const number = (/** @type {string} */ given) => BigInt(`0x${given}`);
const flip = (/** @type {string} */ text, at = text.length - 1) =>
  text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1);

/** The factor of which an inverse is known. @param {string} inverse @param {string} modulus */
function factorOf(inverse, modulus) {
  let [a, b, x, y] = [number(modulus), number(inverse), 0n, 1n];
  while (b) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return (x + number(modulus)) % number(modulus);
}

for (const { name, n, msg, salt, inv, blinded_msg, blind_sig, sig } of signatures) {
  test(`RFC 9474: ${name}`, async () => {
    const made = await blind(n, msg, salt, () => factorOf(inv, n));
    assert.deepEqual(made, { message: msg, salt, inverse: inv, blinded: blinded_msg });
    assert.equal(await finalize(n, made, blind_sig), msg + sig);
    for (const wrong of [{ message: flip(msg) }, { salt: flip(salt) }, { inverse: flip(inv) }]) {
      await assert.rejects(finalize(n, { ...made, ...wrong }, blind_sig), SurveyError);
    }
    for (const wrong of [flip(blind_sig), sig]) await assert.rejects(finalize(n, made, wrong), SurveyError);
  });
}

/** A published survey whose tokens are signed with a key. @param {string} key @param {string} [url] */
const documentOf = (key, url) => {
  const issuer = url ? { key, url } : { key };
  const question = { id: "q", mechanism: { keep: 3139872686, name: "warner" }, options: ["no", "yes"], text: "Q?", type: "yes-no" };
  return JSON.stringify({ access: "unlinkable", deniable: 2, issuer, questions: [question], title: "T" });
};
const surveyOf = (/** @type {string} */ key, /** @type {string} */ url) => parseSurvey(bytes(documentOf(key, url)));

tokens.forEach(({ pkS, token_challenge, nonce, blind: factor, salt, token_request, token_response, token }, n) => {
  test(`RFC 9578: token ${n}`, async () => {
    const { modulus } = (await surveyOf(pkS)).issuer;
    const message = token.slice(0, -512);
    const made = await blind(modulus, message, salt, () => number(factor));
    assert.equal(`0002${token_request.slice(4, 6)}${made.blinded}`, token_request);
    assert.equal(await finalize(modulus, made, token_response), token);
    assert.equal(message.slice(4, 68), nonce);
    assert.ok(token_challenge.startsWith("0002"));
  });
});

/** A key of its own: as WebCrypto has it, as surveys have it, and the raw private operation. */
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = privateKey.export({ format: "jwk" });
const modulus = hex(Buffer.from(/** @type {string} */ (jwk.n), "base64url"));
const KEY = tokens[0].pkS.slice(0, 162) + modulus + "0203010001";
const PSS = { name: "RSA-PSS", hash: "SHA-384" };
const pair = {
  privateKey: await crypto.subtle.importKey("jwk", jwk, PSS, true, ["sign"]),
  publicKey: await crypto.subtle.importKey("jwk", { kty: "RSA", n: jwk.n, e: jwk.e }, PSS, true, ["verify"]),
};
const rawSign = (/** @type {string} */ blinded) =>
  hex(privateEncrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, Buffer.from(blinded, "hex")));
const SURVEYS = [await surveyOf(KEY), await surveyOf(KEY, "https://issuer.example:8443")];

/** Whether OpenSSL takes a token's signature. @param {string} token */
const isSigned = (token) =>
  verify("sha384", Buffer.from(token.slice(0, -512), "hex"), {
    key: createPublicKey(privateKey), padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48,
  }, Buffer.from(token.slice(-512), "hex"));

for (const survey of SURVEYS) {
  test(`a token for ${survey.issuer.url ?? "the collector"}: its parts, and a signature that OpenSSL takes`, async () => {
    const token = await newToken(survey);
    const signed = await signedToken(survey, { ...token, signature: rawSign(token.blinded) });
    assert.equal(signed.length, 2 * 354);
    assert.ok(isSigned(signed));
    const challenge = TokenChallenge.deserialize(bytesOf(await challengeOf(survey)));
    assert.equal(challenge.issuerName, survey.issuer.url?.slice(8) ?? "collector");
    assert.deepEqual(challenge.originInfo ?? [], []);
    const read = Token.deserialize(TOKEN_TYPES.BLIND_RSA, bytesOf(signed));
    assert.equal(hex(read.authInput.challengeDigest), await digest(await challengeOf(survey)));
    assert.equal(hex(read.authInput.tokenKeyId), await digest(KEY));
    assert.ok(await new publicVerif.Origin(publicVerif.BlindRSAMode.PSS).verify(read, pair.publicKey));
  });

  test(`what is not signed with the key of ${survey.issuer.url ?? "the collector"}'s survey is no token`, async () => {
    const token = await newToken(survey);
    const signature = rawSign(token.blinded);
    const fakes = [flip(signature), "0".repeat(512), "f".repeat(512), rawSign((await newToken(survey)).blinded), token.blinded];
    for (const fake of fakes) {
      await assert.rejects(signedToken(survey, { ...token, signature: fake }), SurveyError);
    }
    for (const damaged of [{ message: flip(token.message, 9) }, { salt: flip(token.salt) }, { inverse: flip(token.inverse) }]) {
      await assert.rejects(signedToken(survey, { ...token, signature, ...damaged }), SurveyError);
    }
    await assert.rejects(signedToken(survey, { ...token, signature: "no digits" }));
  });
}

const digest = async (/** @type {string} */ of) => hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytesOf(of))));
const challengeOf = async ({ issuer, document }) => {
  const name = issuer.url?.slice(8) ?? "collector";
  const length = name.length.toString(16).padStart(4, "0");
  return `0002${length}${hex(bytes(name))}20${await digest(hex(bytes(document)))}0000`;
};

test("an independent issuer signs what we blind", async () => {
  const [survey] = SURVEYS;
  const token = await newToken(survey);
  const theirs = RSABSSA.SHA384.PSS.Deterministic();
  const signature = hex(await theirs.blindSign(pair.privateKey, bytesOf(token.blinded)));
  assert.equal(signature, rawSign(token.blinded));
  const signed = await signedToken(survey, { ...token, signature });
  assert.ok(await theirs.verify(pair.publicKey, bytesOf(signed.slice(-512)), bytesOf(signed.slice(0, -512))));
  const issuer = new publicVerif.Issuer(publicVerif.BlindRSAMode.PSS, "collector", pair.privateKey, pair.publicKey);
  const request = new publicVerif.TokenRequest(parseInt((await digest(KEY)).slice(-2), 16), bytesOf(token.blinded), TOKEN_TYPES.BLIND_RSA);
  assert.equal(hex((await issuer.issue(request)).serialize()), signature);
});

test("an independent client's token is one of ours, and of a report that fits", async () => {
  const [survey] = SURVEYS;
  const client = new publicVerif.Client(publicVerif.BlindRSAMode.PSS);
  const challenge = TokenChallenge.deserialize(bytesOf(await challengeOf(survey)));
  const request = await client.createTokenRequest(challenge, bytesOf(KEY));
  const response = publicVerif.TokenResponse.deserialize(bytesOf(rawSign(hex(request.blindedMsg))));
  const token = hex((await client.finalize(response)).serialize());
  const ours = await newToken(survey);
  assert.equal(token.length, 708);
  assert.equal(token.slice(68, -512), ours.message.slice(68)); // all but the nonce and what signs it
  const report = randomize(survey, { q: "yes" }, { credential: token });
  assert.equal(report.id, token.slice(4, 36));
  assert.deepEqual(Object.keys(JSON.parse(encodeReport(report))), ["id", "cohort", "values", "credential"]);
});

test("what is blinded, and what hides it, is another each time, and within the modulus", async () => {
  const [survey] = SURVEYS;
  const made = await Promise.all(Array.from({ length: 20 }, () => newToken(survey)));
  for (const part of ["message", "salt", "inverse", "blinded"]) assert.equal(new Set(made.map((each) => each[part])).size, 20);
  for (const { inverse, blinded } of made) assert.ok([inverse, blinded].every((each) => each.length === 512 && each < modulus));
});

test("a key of small primes is refused, because they divide what is blinded if they divide what hides in it", async () => {
  const key = "f".repeat(512); // 2^2048 - 1, a multiple of 3, 5, 17 and 257
  const tried = await Promise.allSettled(Array.from({ length: 100 }, () => blind(key, random(32))));
  for (const { reason, value } of tried) {
    if (reason) assert.match(String(reason), /SurveyError: key: must be a product of large primes/);
    else for (const prime of [3n, 5n, 17n, 257n]) assert.notEqual(number(value.blinded) % prime, 0n);
  }
  const refused = tried.filter(({ status }) => status === "rejected").length;
  assert.ok(refused > 40, `${refused} of 100: three of four, as the factor must share none either`);
  await assert.rejects(blind(SURVEYS[0].issuer.key.slice(162, -10), "00", random(48), () => 0n), /large primes/);
});

test("reports carry an invitation or a token where the survey asks for one, and only there", async () => {
  const token = await newToken(SURVEYS[0]);
  const signed = await signedToken(SURVEYS[0], { ...token, signature: rawSign(token.blinded) });
  const invited = await parseSurvey(bytes(documentOf(KEY).replace(/"issuer":\{.*?\},/, "").replace("unlinkable", "invited")));
  const open = await parseSurvey(bytes(documentOf(KEY).replace(/"issuer":\{.*?\},/, "").replace('"access":"unlinkable",', "")));
  assert.deepEqual([open.access, invited.access, SURVEYS[0].access], ["open", "invited", "unlinkable"]);
  const invitation = random(16);
  const answer = (survey, credential, id) => randomize(survey, { q: "no" }, { credential, ...(id && { id }) });
  assert.deepEqual(Object.keys(answer(open)), ["id", "cohort", "values"]);
  assert.equal(answer(invited, invitation).credential, invitation);
  assert.notEqual(answer(invited, invitation).id, answer(invited, invitation).id);
  for (const [survey, credential, id] of [
    [open, invitation], [open, signed],
    [invited, undefined], [invited, signed], [invited, invitation.slice(1)], [invited, `${invitation}\n`],
    [SURVEYS[0], undefined], [SURVEYS[0], invitation], [SURVEYS[0], signed.slice(2)], [SURVEYS[0], signed, random(16)],
  ]) {
    assert.throws(() => answer(survey, credential, id), NotInvited);
  }
});

const URLS = JSON.parse(await readFile(new URL("../data/issuer_urls.json", import.meta.url), "utf8"));

test("surveys name issuers that devices can reach, and none in the clear or nowhere", async () => {
  for (const url of URLS.valid) assert.equal((await parseSurvey(bytes(documentOf(KEY, url)))).issuer.url, url);
  for (const url of Object.keys(URLS.refused)) {
    await assert.rejects(parseSurvey(bytes(documentOf(KEY, url))), SurveyError, url);
  }
});

test("surveys name who signs exactly as they are published", async () => {
  const good = documentOf(KEY, "https://issuer.example");
  assert.equal((await parseSurvey(bytes(good))).issuer.url, "https://issuer.example");
  const bad = {
    "open, said": good.replace("unlinkable", "open"),
    "invited, with an issuer": good.replace("unlinkable", "invited"),
    "unlinkable, without one": good.replace(/"issuer":\{.*?\},/, ""),
    "of another algorithm": good.replace(KEY, flip(KEY, 20)),
    "even": good.replace(KEY, KEY.slice(0, -11) + "0" + KEY.slice(-10)),
    "of 2047 bits": good.replace(KEY, KEY.slice(0, 162) + "7" + KEY.slice(163)),
    "of another exponent": good.replace(KEY, KEY.slice(0, -1) + "3"),
    "longer": good.replace(KEY, `${KEY}00`),
    "in capitals": good.replace(KEY, KEY.toUpperCase()),
    "a list": good.replace(`"${KEY}"`, `["${KEY}"]`),
    "with a path": good.replace("issuer.example", "issuer.example/a"),
    "by another scheme": good.replace("https:", "ftp:"),
    "without an address": good.replace('"https://issuer.example"', '""'),
    "null": good.replace('"https://issuer.example"', "null"),
    "with more": good.replace('"url":', '"more":1,"url":'),
    "with less": good.replace(/"key":".*?",/, ""),
  };
  for (const [what, document] of Object.entries(bad)) {
    assert.notEqual(document, good, what);
    await assert.rejects(parseSurvey(bytes(document), await address(bytes(document))), SurveyError, what);
  }
});

test("a token is bought from whoever the survey names, with the invitation in the body alone", async () => {
  const invitation = random(16);
  const collector = "https://collector.example/path";
  for (const [survey, where] of [[SURVEYS[0], collector], [SURVEYS[1], "https://issuer.example:8443"]]) {
    const asked = [];
    globalThis.fetch = async (url, { body, method, credentials, referrerPolicy }) => {
      asked.push({ url, method, credentials, referrerPolicy, body: JSON.parse(body) });
      return Response.json({ signature: rawSign(JSON.parse(body).blinded) });
    };
    const memory = new Memory(fakeStore());
    const link = { collector, invitation };
    const token = await buyToken(memory, survey, link);
    assert.ok(isSigned(token));
    assert.equal(await buyToken(memory, survey, link), token); // kept: nobody is asked again
    const [{ body, ...request }] = asked;
    assert.equal(asked.length, 1);
    const url = `${where}/api/v1/surveys/${survey.id}/tokens`;
    assert.deepEqual(request, { url, method: "POST", credentials: "same-origin", referrerPolicy: "no-referrer" });
    assert.deepEqual([Object.keys(body), body.invitation], [["invitation", "blinded"], invitation]);
    const others = await Promise.all([random(16), random(16)].map((each) => buyToken(memory, survey, { collector, invitation: each }, true)));
    assert.equal(new Set([...others, token]).size, 3);
  }
});

test("what an issuer refuses, or answers instead of a signature, throws and buys nothing", async () => {
  const [survey] = SURVEYS;
  const link = { collector: "https://collector.example", invitation: random(16) };
  const problem = (/** @type {number} */ status) => Response.json({ detail: "invitation: must be one of the survey" }, { status });
  for (const [answer, kind] of [
    [() => problem(403), NotInvited], [() => problem(409), ReportConflict], [() => problem(410), SurveyClosed], [() => problem(422), ReportError],
    [() => Response.json({ signature: "ff".repeat(256) }), SurveyError], [() => Response.json({ signature: "zz" }), SyntaxError],
    [() => Response.json({}), CollectorError], [() => Response.json({ signature: null }), CollectorError],
    [() => Response.json({ signature: "" }), CollectorError], [() => new Response("<html>", { status: 403 }), CollectorError],
  ]) {
    globalThis.fetch = async () => answer();
    const store = fakeStore();
    await assert.rejects(buyToken(new Memory(store), survey, link), kind);
    const [kept] = Object.values(JSON.parse(store.text).tokens);
    assert.equal(kept.signature, undefined);
  }
});

test("where nothing can be stored, what was no signature is not kept either, and the same is asked for again", async () => {
  const [survey] = SURVEYS;
  const link = { collector: "https://collector.example", invitation: random(16) };
  const memory = new Memory(); // here is neither IndexedDB nor localStorage
  const asked = [];
  const answers = ["ff".repeat(256), "0", null];
  globalThis.fetch = async (_, { body }) => {
    asked.push(JSON.parse(body).blinded);
    return Response.json({ signature: answers.shift() ?? rawSign(asked[0]) });
  };
  await assert.rejects(buyToken(memory, survey, link), SurveyError);
  assert.equal(memory.lasts, false);
  await assert.rejects(buyToken(memory, survey, link), SurveyError);
  const token = await buyToken(memory, survey, link);
  assert.ok(isSigned(token));
  assert.equal(await buyToken(memory, survey, link), token);
  assert.equal(asked.length, 3);
  assert.equal(new Set(asked).size, 1);
});
