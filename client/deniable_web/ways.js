//@ts-check
/*
 * What a page can do besides, once it was taught: go on from Start, show a survey in a frame, and take a link. Where nobody taught it
 * to go on, or to frame, nothing is sent: to call what is not there throws.
 */

/**
 * `answering` gives what stands in the second script. `seals` is whether the page itself shows surveys with sealed reports, which
 * elsewhere stand in the frame of their collector. `paste` is missing at places.
 * @type {{ answering?: () => Promise<typeof import("./answering.js")>, seals?: true, frame?: typeof import("./framed.js").framed, paste?: typeof import("./paste.js").paste }}
 */
export const ways = {};
