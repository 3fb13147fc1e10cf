import type { ConnectionInfo, NetAddress } from "../context.ts";

/** A text with a colon that may be an IPv6 address. */
const IPV6 = /^[\da-f:.]{2,45}$/i;
/** An IPv4 address as IPv6: mapped (RFC 4291), or behind a NAT64 (RFC 6052). */
const MAPPED = /^(?:::ffff|64:ff9b:):([\da-f]{1,4}):([\da-f]{1,4})$/;

/** Returns the host at the other end of a connection, or `undefined` if unknown. */
export function hostnameOf(
  info: ConnectionInfo | undefined,
): string | undefined {
  try {
    return (info?.remoteAddr as Partial<NetAddress> | undefined)?.hostname;
  } catch {
    // Deno drops the connection of a request that has become a socket.
    return undefined;
  }
}

/** Returns the network of a client, or `undefined` if unknown. */
export function clientNetwork(
  info: ConnectionInfo | undefined,
): string | undefined {
  const hostname = hostnameOf(info);
  return hostname === undefined ? undefined : networkOf(hostname);
}

/**
 * Returns the network that an address counts as in limits. For IPv6 it is the
 * network of 64 bits: every customer gets at least that (RFC 6177), and could use
 * another address each time. An IPv4 address is its own network, also as an
 * IPv4-mapped IPv6 address, or with the prefix `64:ff9b::/96` of a NAT64.
 *
 * Brackets, ports and zones such as `%eth0` are removed. A text that isn't an
 * address is returned as it is.
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
  const [head, tail] = host.split("::").map((part) =>
    part.split(":").filter((group) => group !== "")
  );
  // `::` stands for as many zeros as are missing.
  const zeros = Array(8 - head!.length - (tail ?? []).length).fill("0");
  const groups = [...head!, ...zeros, ...tail ?? []];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

function dotted(high: string, low: string): string {
  const bits = [high, low].map((group) => parseInt(group, 16));
  return bits.flatMap((value) => [value >> 8, value & 255]).join(".");
}

/** Private networks. Their addresses often belong to a proxy of all clients. */
const PRIVATE = [
  /^(?:0|10|127)\./,
  /^192\.168\./,
  /^169\.254\./,
  /^172\.(?:1[6-9]|2\d|3[01])\./,
  /^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
  /^0:0:0:0::/,
  /^f[cd][\da-f]{2}:/,
  /^fe[89ab][\da-f]:/,
];

/** Whether a network is private. */
export function isPrivateNetwork(network: string): boolean {
  return PRIVATE.some((start) => start.test(network));
}

/** Creates counts of what is open in each network. Unknown ones don't count. */
export function createNetworkCounts() {
  const counts = new Map<string | undefined, number>();

  function get(network: string | undefined): number {
    return counts.get(network) ?? 0;
  }

  /** Counts one more, until the returned function is called. */
  function add(network: string | undefined): () => void {
    if (network === undefined) return () => {};
    counts.set(network, get(network) + 1);
    return () => {
      const left = get(network) - 1;
      // Networks without any take no memory.
      if (left > 0) counts.set(network, left);
      else counts.delete(network);
    };
  }

  return { get, add };
}
