//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "iwd5yhar75xfna73ik6jsqhqci",
  de: "zkuoqob7vzvocvcydfwxg4wwyi",
  en: "c352k3t4zejzyo2bdv66jzk45m",
  es: "jnalr3hqwlx5ptygyirweyws2e",
  fr: "m7ooxt2odpism7tvqgshuagjga",
};
