// A cache for the countries and their neighbours.

import type { DatabaseSync } from "node:sqlite";
import { createCache, tags } from "@quartet/kit/data";
import type { CacheStore, RevalidateResult } from "@quartet/kit/data";
import { findBorders, findCountry } from "./countries.ts";
import type { Country, CountryName } from "./countries.ts";

/** A country and its neighbours. They're the same for all users. */
export interface CountryFacts {
  readonly country: Country;
  readonly borders: readonly CountryName[];
}

export interface CountryCache {
  /** Finds a country by its code in capital letters. */
  load(code: string): Promise<CountryFacts | undefined>;
  /** Invalidates a country. The next visitor sees the change. */
  revalidate(code: string): Promise<RevalidateResult>;
  /** Creates the webhook for other editors of the countries. */
  webhook(secret: string): (request: Request) => Promise<Response>;
  close(): Promise<void>;
}

/**
 * Creates a cache in front of a database.
 *
 * @param store The store that several processes share. Default: memory.
 */
export function createCountryCache(
  database: DatabaseSync,
  store?: CacheStore,
): CountryCache {
  const cache = createCache(store && { store });
  const tagOf = (code: string) => tags.resource("country", code);
  const pathOf = (code: string) => `/countries/${code}`;
  return {
    load: (code) =>
      cache.cached(`country:${code}`, () => {
        const country = findCountry(database, code);
        return country && { country, borders: findBorders(database, code) };
      }, {
        maxAge: 3600,
        staleWhileRevalidate: 60,
        tags: [tags.collection("country"), tagOf(code)],
        paths: [pathOf(code)],
      }),
    revalidate: (code) =>
      cache.revalidate({ tags: [tagOf(code)], paths: [pathOf(code)] }),
    webhook: (secret) => cache.createRevalidationHandler(secret),
    close: () => cache.close(),
  };
}
