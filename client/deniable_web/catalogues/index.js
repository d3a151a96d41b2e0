//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-imytfNELAw6xlQajnabnfb0atZwgMqDbRPTh9Uha0ww=",
  de: "sha256-TP9R6l4aDVC4wJjXOth3kWbtNRV/jV7mR7VNg/43UNk=",
  en: "sha256-BQBDrkp6In/ygX/NIgEsh+uaDR1vJUPaheS8Khag9lw=",
  es: "sha256-4yY3BIxYAjSHbTuF2UPF5b+9BjAEYHHjyh2PCVpiq9c=",
  fr: "sha256-XrXGn0ubnNYpNsQjySV30AncHq8vB9JzlUyH2mGc28I=",
};
