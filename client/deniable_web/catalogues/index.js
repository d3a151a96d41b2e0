//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "gjuzyl6yesqa434cem7nekon7i",
  de: "unrrhqecu2jwlmquofvsajghme",
  en: "b7rn3jsy5otgudthk2chxq3b7m",
  es: "uusiodsz6646d3nrgifxc2mj2y",
  fr: "z7qm7r6tv7bzozjqm3cpmdgmli",
};
