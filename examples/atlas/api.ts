// The procedures of Atlas, for its pages and other clients.

import type { DatabaseSync } from "node:sqlite";
import type { AuthPlugin } from "@quartet/kit/auth";
import { createRouter, errors, procedure } from "@quartet/kit/rpc";
import type { Channel } from "@quartet/kit/rpc";
import { z } from "zod";
import { findCountry, searchCountries } from "./countries.ts";
import { addFavourite, listFavourites, removeFavourite } from "./favourites.ts";
import type { AtlasUser } from "./user.ts";

/** The type of the API. The page imports this type and no code. */
export type Api = ReturnType<typeof createApi>;

const code = z.string().regex(
  /^[A-Za-z]{3}$/,
  "A country code has three letters",
);

/**
 * Creates the API.
 *
 * @param changes A channel for the ids of users whose favourites have changed.
 */
// deno-lint-ignore explicit-module-boundary-types -- the procedures are the type
export function createApi(
  database: DatabaseSync,
  auth: AuthPlugin<AtlasUser>,
  changes: Channel<string>,
) {
  const forUsers = procedure.use(async ({ ctx, next }) => {
    const user = auth.getUser(ctx);
    if (user === null) throw errors.unauthorized("Sign in first");
    return await next({ user });
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
      list: forUsers.query(({ user }) => listFavourites(database, user.id)),
      add: forUsers.mutation(
        z.object({ code }),
        async ({ input, user }) => {
          if (findCountry(database, input.code) === undefined) {
            throw errors.notFound("No such country");
          }
          addFavourite(database, user.id, input.code);
          await changes.publish(user.id);
        },
      ),
      remove: forUsers.mutation(
        z.object({ code }),
        async ({ input, user }) => {
          removeFavourite(database, user.id, input.code);
          await changes.publish(user.id);
        },
      ),
      // Yields the whole list each time, so that a client that reconnects is up
      // to date. The subscription ends with the session.
      live: forUsers.subscription(async function* ({ user, signal }) {
        const changed = changes.subscribe(signal);
        yield listFavourites(database, user.id);
        for await (const { value } of changed) {
          if (value === user.id) yield listFavourites(database, user.id);
        }
      }),
    },
  });
}
