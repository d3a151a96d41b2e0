/* Keys of vectors, as WebCrypto takes them. */

const { subtle } = globalThis.crypto;

export const hex = (/** @type {Uint8Array} */ given) => Buffer.from(given).toString("hex");
const base64 = (/** @type {string} */ given) => Buffer.from(given, "hex").toString("base64url");

/** The key pair of a vector. */
export async function pairOf({ skEm, pkEm }) {
  const isP256 = pkEm.length > 64;
  const curve = isP256 ? { name: "ECDH", namedCurve: "P-256" } : { name: "X25519" };
  const [x, y] = isP256 ? [pkEm.slice(2, 66), pkEm.slice(66)] : [pkEm, ""];
  const jwk = { kty: isP256 ? "EC" : "OKP", crv: isP256 ? "P-256" : "X25519", d: base64(skEm), x: base64(x), ...(y && { y: base64(y) }) };
  const { d: _, ...open } = jwk;
  return {
    privateKey: await subtle.importKey("jwk", jwk, curve, false, ["deriveBits"]),
    publicKey: await subtle.importKey("jwk", open, curve, true, []),
  };
}
