import { checkValue } from "../core/check/options.ts";
import { kindOf, type Rule, withMethods } from "../core/check/rules.ts";
import type { ConnectionInfo } from "../core/context.ts";

/** An object that answers requests: an app, or the export of a `main.ts`. */
export interface Fetcher {
  /** Answers a request. */
  fetch(request: Request, info?: ConnectionInfo): Response | Promise<Response>;
  /** Called when a shutdown begins, before requests are refused. */
  drain?(): void;
  /**
   * Releases what the fetcher holds. Called on shutdown, after the last
   * request. Some response bodies may not be sent yet.
   */
  close?(): void | Promise<void>;
}

/** Errors don't show what else was passed. */
const aFetcher: Rule = {
  ...withMethods("an object with a fetch method", "fetch"),
  describe: (value) =>
    kindOf(value) +
    (typeof value === "function" ? "; pass { fetch: handler }" : ""),
};

/** Whether a value answers requests. */
export function isFetcher(value: unknown): value is Fetcher {
  return aFetcher.test(value);
}

/**
 * Checks the app that is served.
 *
 * @param operation The operation in error messages, such as `serve on Bun`.
 * @throws {TypeError} If it has no `fetch`.
 */
export function checkFetcher(value: unknown, operation: string): void {
  checkValue(value, "the app", aFetcher, operation);
}
