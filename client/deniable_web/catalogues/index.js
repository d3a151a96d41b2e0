//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-HlJ0bw7WCHB2zPqp9TkZ+8QtIgWFcqxpiD6p2HxTB+8=",
  de: "sha256-IKVAJjNzdgmqDAqB3OcgYuGZ3aRfAaGhpYVAx83SIus=",
  en: "sha256-JFJTbaGSD/FeG0mVjQ+Q4cHa1LQBJuEg2OObT2llOrw=",
  es: "sha256-xzWGb/jifUQsrfIyMjZQWm7j6YC2Yniiun/NpCkq5sw=",
  fr: "sha256-DmE+Ckutlx9sdvYZglK7oyhsXX41x8ly0MXJ9TVB3QE=",
};
