//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "e3bwp35cu2olx5wx6gbwtc2mfu",
  de: "bzr6w2lxzuzjhjgx3fyyg3mbau",
  en: "2p7se25sbpvooagyomygyvkoem",
  es: "7mmaqminvdn2234i4uupdow2ie",
  fr: "ttm3ckinoabmwvzscdjhqfbwfq",
};
