//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "3i3e7iltqhktilv4r2uskncrqm",
  de: "3abyo56jxoim42l4nfpri6lxgy",
  en: "nh3y6nu2njzuxjdn3orcjcbjk4",
  es: "lqjiwcpzrhdgbc7pmk6n6q5yim",
  fr: "de5fgrapzl7taz7trqjixcmdqa",
};
