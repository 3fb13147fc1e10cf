// The routes of the countries.

import type { DatabaseSync } from "node:sqlite";
import type { Context, Route } from "@quartet/kit/app";
import type { AuthPlugin } from "@quartet/kit/auth";
import { html } from "./answer.tsx";
import { searchCountries } from "./countries.ts";
import type { CountryName } from "./countries.ts";
import type { CountryCache } from "./country_cache.ts";
import { CountryPage, ListPage, NoCountryPage } from "./country_pages.tsx";
import { listFavourites } from "./favourites.ts";
import type { AtlasUser } from "./user.ts";

export function countryRoutes(
  database: DatabaseSync,
  cache: CountryCache,
  auth: AuthPlugin<AtlasUser>,
): Route[] {
  const favouritesOf = (context: Context): CountryName[] | null => {
    const user = auth.getUser(context);
    return user && listFavourites(database, user.id);
  };
  return [
    {
      path: "/",
      loader({ context }) {
        const query = context.url.searchParams.get("q") ?? "";
        const countries = searchCountries(database, query);
        const favourites = favouritesOf(context);
        return html(
          context,
          <ListPage {...{ query, countries, favourites }} />,
        );
      },
    },
    {
      path: "/countries/:code",
      async loader({ params, context }) {
        const found = await cache.load(params["code"]!.toUpperCase());
        if (found === undefined) return html(context, <NoCountryPage />, 404);
        const favourites = favouritesOf(context);
        const canEdit = auth.getAuth(context).hasRole("admin");
        const props = { ...found, favourites, canEdit };
        return html(context, <CountryPage {...props} />);
      },
    },
    {
      path: "/api/countries",
      handler(_request, { url }) {
        const query = url.searchParams.get("q") ?? "";
        return Response.json(searchCountries(database, query));
      },
    },
  ];
}
