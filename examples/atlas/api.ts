// What the page, and anybody else, can call: the procedures of Atlas.

import type { DatabaseSync } from "node:sqlite";
import {
  createChannel,
  createRouter,
  errors,
  procedure,
} from "@quartet/kit/rpc";
import { z } from "zod";
import { findCountry, searchCountries } from "./countries.ts";
import { addFavourite, listFavourites, removeFavourite } from "./favourites.ts";

/** The type of the API, which is all that the page knows of it. */
export type Api = ReturnType<typeof createApi>;

const code = z.string().regex(/^[A-Za-z]{3}$/, "A country has three letters");

/** Makes the API on a database. */
// deno-lint-ignore explicit-module-boundary-types -- the procedures are the type
export function createApi(database: DatabaseSync) {
  /** Tells whose favourites have changed. */
  const changes = createChannel<string>();

  const forVisitors = procedure.use(({ ctx, next }) => {
    const visitor: string | undefined = ctx.get("visitor");
    if (visitor === undefined) throw errors.unauthorized("Visit a page first");
    return next({ visitor });
  });

  return createRouter({
    countries: {
      search: procedure.query(
        z.object({ query: z.string().default("") }),
        ({ input }) => searchCountries(database, input.query),
      ),
      byCode: procedure.query(z.object({ code }), ({ input }) => {
        const country = findCountry(database, input.code);
        if (country === undefined) throw errors.notFound("No such country");
        return country;
      }),
    },
    favourites: {
      list: forVisitors.query(({ visitor }) =>
        listFavourites(database, visitor)
      ),
      add: forVisitors.mutation(
        z.object({ code }),
        async ({ input, visitor }) => {
          if (findCountry(database, input.code) === undefined) {
            throw errors.notFound("No such country");
          }
          addFavourite(database, visitor, input.code);
          await changes.publish(visitor);
        },
      ),
      remove: forVisitors.mutation(
        z.object({ code }),
        async ({ input, visitor }) => {
          removeFavourite(database, visitor, input.code);
          await changes.publish(visitor);
        },
      ),
      // All of them each time: whoever comes back after a break is up to date.
      live: forVisitors.subscription(async function* ({ visitor, signal }) {
        const changed = changes.subscribe(signal);
        yield listFavourites(database, visitor);
        for await (const { value } of changed) {
          if (value === visitor) yield listFavourites(database, visitor);
        }
      }),
    },
  });
}
