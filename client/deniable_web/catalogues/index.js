//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "q2dwqejesvf3vpsrkcx2xiweke",
  de: "muh2bqqpkvxn6c2hr4hl67p3tm",
  en: "iu5vfrc4jrihibbeks3km3glrq",
  es: "hqglblxe6giriasp74bkdd3aye",
  fr: "tbhhuwainq3buysvqpqzrx2iwu",
};
