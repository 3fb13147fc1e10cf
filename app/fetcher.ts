import type { ConnectionInfo } from "../core/context.ts";
import { kindOf } from "../core/check/show.ts";

/** Something that answers requests: an app, or what a `main.ts` exports. */
export interface Fetcher {
  /** Answers one request. */
  fetch(
    request: Request,
    info?: ConnectionInfo,
  ): Response | Promise<Response>;
  /** Called when a shutdown begins, before requests are refused. */
  drain?(): void;
  /**
   * Lets go of what the fetcher holds: called on shutdown, once the last
   * request is answered. Bodies may still be on their way.
   */
  close?(): void | Promise<void>;
}

/** Whether something answers requests. */
export function isFetcher(value: unknown): value is Fetcher {
  return typeof (value as Partial<Fetcher> | null | undefined)?.fetch ===
    "function";
}

/**
 * Checks what is to be served.
 *
 * @param operation What can't be done with a wrong one, such as `serve on Bun`.
 * @throws {TypeError} If it answers no requests.
 */
export function checkFetcher(value: unknown, operation: string): void {
  if (isFetcher(value)) return;
  throw new TypeError(
    `Cannot ${operation}: the app must be an object with a fetch method, received ${
      kindOf(value)
    }`,
  );
}
