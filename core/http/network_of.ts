/** What an address with a colon may consist of to be one of IPv6. */
const IPV6 = /^[\da-f:.]{2,45}$/i;
const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/;

/**
 * Returns the network that limits count an address as. Of IPv6 that is the
 * network of 64 bits, the least that one customer gets (RFC 6177): its owner can
 * use a new address of it each time. An address of IPv4, also one that is written
 * in IPv6, is its own network.
 *
 * Brackets, ports and zones such as `%eth0` are left out. A text that isn't an address
 * is returned as it is.
 */
export function networkOf(address: string): string {
  const inner = /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? address;
  const ipv4 = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(inner)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const text = inner.split("%", 1)[0]!;
  const host = text.includes(":") && IPV6.test(text)
    ? URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1)
    : undefined;
  if (host === undefined) return address;
  const mapped = MAPPED.exec(host);
  if (mapped !== null) return dotted(mapped[1]!, mapped[2]!);
  const [head = "", tail] = host.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const count = tail === "" ? 0 : tail.split(":").length;
    while (groups.length + count < 8) groups.push("0");
    if (tail !== "") groups.push(...tail.split(":"));
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}

function dotted(high: string, low: string): string {
  const bits = [high, low].map((group) => parseInt(group, 16));
  return bits.flatMap((value) => [value >> 8, value & 255]).join(".");
}
