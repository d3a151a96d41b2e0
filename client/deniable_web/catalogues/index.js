//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "kdd3ocp32yg2ccmpk52u3ibmuy",
  de: "mnqswhxizq5xxs5gzlln47fpie",
  en: "dhzw2ta55dqwyicesj37tfy2su",
  es: "6tfhtfndjrwmcmcbiws4gihfnm",
  fr: "selrzxuorfedrae6feuxhre54q",
};
