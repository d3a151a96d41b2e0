//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-ULcAdDMUEBXbiGwIe7CAf2rC9OVbfhwN8bcciTEZ3h8=",
  de: "sha256-6CNgI7EfzLipGZE2CtSP0q9on5OFh8eO0VlKbIygmyU=",
  en: "sha256-QKkSHYk1EPzt+cr+Px37jnrbDKSJZR6iUHwQXpoeUXo=",
  es: "sha256-VCEZUg6RaJzmemuN8Teq1hnJrfNlsRRZySFveAmXuUs=",
  fr: "sha256-mdAVtWTQ6q8baRmIJ5lblp53q1MqhfdP4IUBtSpiUdA=",
};
