//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "pogu6rzqiopbpokwl2rz4vh3sq",
  de: "wblxtbgfu6kr5mjvmgcy3ap4pm",
  en: "oysu4tchbdia5fmi7eazvsnmum",
  es: "encj7wozw4ydei3yvyir4vjb2q",
  fr: "p5zfho7uaim3jhvysyeil4jl7a",
};
