import type { Fetcher } from "../serve.ts";
import { kindOf } from "../show.ts";

/** Checks what is to be served. */
export function checkFetcher(fetcher: unknown, doing: string): void {
  if (typeof (fetcher as Partial<Fetcher> | null)?.fetch === "function") return;
  throw new TypeError(
    `Cannot ${doing}: the app must be an object with a fetch method, received ${
      kindOf(fetcher)
    }`,
  );
}
