//@ts-check
/* Hosts of addresses, checked by the rules of browsers, so that an address leads where it seems to. */

/** Whether a text is a name, an IPv4 address, or an IPv6 address in brackets; `hosts.py` has the same rules. @param {string} host */
export const isHost = (host) => (host[0] === "[" ? isIpv6(host.slice(1, -1)) : isIpv4(host) || isName(host.split(".")));

/** @param {string} host */
export const isIpv4 = (host) => /^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(?!$)|$)){4}$/.test(host);

/** Whether a host is a name, which browsers do not take for an address in numbers. @param {string[]} labels */
const isName = (labels) =>
  labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)) &&
  !/^(\d+|0x[0-9a-f]*)$/.test(labels[labels.length - 1]);

/** @param {string} host without its brackets */
function isIpv6(host) {
  const halves = host.split("::").map((half) => (half ? half.split(":") : []));
  const groups = halves.flat();
  const fits = halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length < 8;
  return fits && groups.every((group) => /^[0-9a-f]{1,4}$/.test(group));
}
