import type { Address } from "../context.ts";
import { networkOf } from "../http/network_of.ts";

/** Maximum open sockets of one public address. */
const DEFAULT_MAX = 100;

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

/**
 * Creates counts of the open sockets of each address.
 *
 * @param max Maximum open sockets of an address. Default: 100 for public
 * addresses, none for private ones.
 */
export function createSocketCounts(max?: number) {
  const limit = max ?? DEFAULT_MAX;
  const counts = new Map<string, number>();

  /** Returns the key that an address counts under, or `undefined` for none. */
  function ownerOf(address: Address | undefined): string | undefined {
    if (address === undefined || !("hostname" in address)) return undefined;
    const network = networkOf(address.hostname);
    const isPrivate = PRIVATE.some((start) => start.test(network));
    return max !== undefined || !isPrivate ? network : undefined;
  }

  /** Whether an owner has reached the maximum. */
  function isFull(owner: string | undefined): boolean {
    return owner !== undefined && countOf(owner) >= limit;
  }

  /** Counts an opened socket. */
  function add(owner: string | undefined): void {
    if (owner !== undefined) counts.set(owner, countOf(owner) + 1);
  }

  /** Uncounts a closed socket. */
  function remove(owner: string | undefined): void {
    if (owner === undefined) return;
    const left = countOf(owner) - 1;
    if (left > 0) counts.set(owner, left);
    else counts.delete(owner);
  }

  function countOf(owner: string): number {
    return counts.get(owner) ?? 0;
  }

  return { limit, ownerOf, isFull, add, remove };
}
