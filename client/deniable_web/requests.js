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
