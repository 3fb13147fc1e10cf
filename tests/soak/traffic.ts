/**
 * The requests of the soak: sent over connections that end with it, and timed.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** What becomes of the requests. Ends with the block that it was made in. */
export interface Traffic extends Disposable {
  /** Sends a request, and reads all of the answer. */
  readonly send: typeof fetch;
  /** How long each took, in milliseconds, by the kind of action. */
  readonly times: ReadonlyMap<string, readonly number[]>;
  /** How many there were. */
  readonly requests: number;
  /** Runs an action; its requests count as of this kind. */
  as<T>(kind: string, fn: () => Promise<T>): Promise<T>;
  /** Times what is no request, such as an answer on a socket. */
  time<T>(fn: () => Promise<T>): Promise<T>;
  /** Closes its connections and forgets the times so far. */
  reset(): void;
}

/** Statuses whose answers have no body (Fetch, section 2.2.4). */
const BODILESS = new Set([101, 204, 205, 304]);

/** Opens connections. */
export function openTraffic(): Traffic {
  const kinds = new AsyncLocalStorage<string>();
  let client = openClient();
  const times = new Map<string, number[]>();
  let requests = 0;

  async function time<T>(fn: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await fn();
    const kind = kinds.getStore() ?? "other";
    const list = times.get(kind);
    const duration = performance.now() - start;
    if (list === undefined) times.set(kind, [duration]);
    else list.push(duration);
    requests++;
    return result;
  }

  return {
    send: (input, init) =>
      time(async () => {
        const response = await fetch(input, { ...init, client });
        const body = await response.arrayBuffer();
        const { status, headers } = response;
        return new Response(BODILESS.has(status) ? null : body, {
          status,
          headers,
        });
      }),
    times,
    get requests() {
      return requests;
    },
    as: (kind, fn) => kinds.run(kind, fn),
    time,
    reset() {
      client.close();
      client = openClient();
      times.clear();
      requests = 0;
    },
    [Symbol.dispose]: () => client.close(),
  };
}

function openClient(): Deno.HttpClient {
  return Deno.createHttpClient({ poolMaxIdlePerHost: 64 });
}

/** The value below which a share of a list is, and the list's largest. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[
    Math.min(sorted.length - 1, Math.floor(sorted.length * share))
  ]!;
}
