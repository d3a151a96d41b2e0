//@ts-check
/*
 * What devices need for surveys by blind token: the tokens, and what asks for them by a gateway. Few surveys are of that kind, so
 * dist/deniable-tokens.js is made of this, and the page of a place loads it for them alone.
 */

export { byGateway } from "./oblivious.js";
export { newToken, signedToken } from "./tokens.js";
