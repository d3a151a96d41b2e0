//@ts-check
/*
 * What a page can do besides, once it was taught: seal reports, buy blind tokens, show a survey in a frame, and take a link. Surveys
 * that need none of it load no script for it. Where nobody taught it to seal, to buy or to frame, nothing is sent: to call what is not
 * there throws.
 */

/** @typedef {typeof import("./blind-tokens.js")} BlindTokens */

/**
 * `byGateway` is missing where no place stands between a page and its collector, `paste` at places.
 * @type {{ frame?: typeof import("./framed.js").framed, paste?: typeof import("./paste.js").paste, seal?: typeof import("./sealing.js").sealReport, tokens?: () => Promise<Omit<BlindTokens, "byGateway"> & Partial<BlindTokens>> }}
 */
export const ways = {};
