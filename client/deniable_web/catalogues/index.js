//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-Xrpgd9WJAXKqxNeL6XOlwZjOm/qo0nvI9qXUiRtrwH0=",
  de: "sha256-+/HIq/MZqoKpmpmdIdWK8bTJsa5Eimv2UfKuGzT2jHU=",
  en: "sha256-8Mc9kO7cKetNA1JSxMLRdoIid2vNmCAiZjmHoKZiQeY=",
  es: "sha256-VFB5UiJ9wnt5r2+G7/XWa1yGY/6mw4yL+aY6Lo/Znco=",
  fr: "sha256-tWc9bBatySF63EZe/1WkVZfySSj8gWNGqeStY7RmIg8=",
};
