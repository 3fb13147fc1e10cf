/**
 * Sends and times the requests of the soak. Its connections end with it.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** A client with statistics. Disposing it closes its connections. */
export interface Traffic extends Disposable {
  /** Sends a request and reads the whole response. */
  readonly send: typeof fetch;
  /** Durations in milliseconds, by kind of action. */
  readonly times: ReadonlyMap<string, readonly number[]>;
  readonly requests: number;
  /** Runs an action. Its requests count under this kind. */
  as<T>(kind: string, fn: () => Promise<T>): Promise<T>;
  /** Times anything other than a request, such as a message on a socket. */
  time<T>(fn: () => Promise<T>): Promise<T>;
  /** Closes its connections and clears the times. */
  reset(): void;
}

/** Statuses of responses without a body (Fetch, section 2.2.4). */
const BODILESS = new Set([101, 204, 205, 304]);

/** Creates a client. */
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

/** Returns a percentile of a sorted list. `share` is from 0 to 1. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[
    Math.min(sorted.length - 1, Math.floor(sorted.length * share))
  ]!;
}
