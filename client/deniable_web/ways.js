//@ts-check
/*
 * What a page can do besides, once it was taught: seal reports, and buy blind tokens. Surveys that need neither load no script for
 * it. Where nobody taught it, nothing is sent: to call what is not there throws.
 */

/** @typedef {typeof import("./blind-tokens.js")} BlindTokens */

/**
 * `byGateway` is missing where no place stands between a page and its collector.
 * @type {{ seal?: typeof import("./sealing.js").sealReport, tokens?: () => Promise<Omit<BlindTokens, "byGateway"> & Partial<BlindTokens>> }}
 */
export const ways = {};
