//@ts-check
/* How this client asks the network for anything: no cookies, no referrer, no other place than the one named. */

/** @param {RequestInit} [more] @returns {RequestInit} */
export const plain = (more) => ({
  credentials: "omit",
  redirect: "error",
  referrerPolicy: "no-referrer",
  signal: AbortSignal.timeout(30_000),
  ...more,
});

/** What sends something. @param {string | Uint8Array<ArrayBuffer>} body @param {HeadersInit} [more] @returns {RequestInit} */
export const posted = (body, more) => {
  const type = typeof body === "string" ? "application/json" : "application/octet-stream";
  return { method: "POST", headers: { "Content-Type": type, ...more }, body };
};
