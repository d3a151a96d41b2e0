//@ts-check
/*
 * What a page can do besides, once gateways.js has taught it: seal reports, and ask by a gateway. Surveys that need neither load
 * no script for it. Where nobody taught it, nothing is sent: to call what is not there throws.
 */

/** @type {{ seal?: typeof import("./sealing.js").sealReport, byGateway?: typeof import("./oblivious.js").byGateway }} */
export const ways = {};
