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

/** Counts the open sockets of each address. */
export class SocketCounts {
  /** Maximum open sockets of an address. */
  readonly max: number;
  readonly #countsPrivate: boolean;
  readonly #counts = new Map<string, number>();

  /**
   * Creates counts that start at zero.
   *
   * @param max Maximum open sockets of an address. Default: 100 for public
   * addresses, none for private ones.
   */
  constructor(max: number | undefined) {
    this.max = max ?? DEFAULT_MAX;
    this.#countsPrivate = max !== undefined;
  }

  /** Returns the key that an address counts under, or `undefined` for none. */
  ownerOf(address: Address | undefined): string | undefined {
    if (address === undefined || !("hostname" in address)) return undefined;
    const network = networkOf(address.hostname);
    const isPrivate = PRIVATE.some((start) => start.test(network));
    return this.#countsPrivate || !isPrivate ? network : undefined;
  }

  /** Whether an owner has reached the maximum. */
  isFull(owner: string | undefined): boolean {
    return owner !== undefined && this.#countOf(owner) >= this.max;
  }

  /** Counts an opened socket. */
  add(owner: string | undefined): void {
    if (owner !== undefined) this.#counts.set(owner, this.#countOf(owner) + 1);
  }

  /** Uncounts a closed socket. */
  remove(owner: string | undefined): void {
    if (owner === undefined) return;
    const left = this.#countOf(owner) - 1;
    if (left > 0) this.#counts.set(owner, left);
    else this.#counts.delete(owner);
  }

  #countOf(owner: string): number {
    return this.#counts.get(owner) ?? 0;
  }
}
