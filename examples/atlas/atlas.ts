// Atlas, the countries of the world: the app itself. Start reading here.

import { createApp } from "@quartet/kit/app";
import type { App, Context } from "@quartet/kit/app";
import { createOpenAPIDocument, rpcPlugin } from "@quartet/kit/rpc";
import { createApi } from "./api.ts";
import { findBorders, findCountry, searchCountries } from "./countries.ts";
import type { CountryName } from "./countries.ts";
import { openDatabase } from "./database.ts";
import { listFavourites } from "./favourites.ts";
import { html } from "./html.ts";
import { CountryPage, ListPage, NotFoundPage } from "./pages.tsx";
import { pageScript } from "./script.ts";
import { visitors } from "./visitor.ts";

/** Settings of the demo. */
export interface AtlasOptions {
  /** The SQLite file; `:memory:` keeps everything in memory. */
  readonly database: string;
}

/** Makes the demo app. */
export function createAtlas(options: AtlasOptions): App {
  const database = openDatabase(options.database);
  const router = createApi(database);
  const openAPI = createOpenAPIDocument(router, {
    title: "Atlas",
    version: "1.0.0",
  });

  const favouritesOf = (context: Context): CountryName[] => {
    const visitor: string | undefined = context.get("visitor");
    return visitor === undefined ? [] : listFavourites(database, visitor);
  };

  return createApp({
    plugins: [
      { name: "database", close: () => database.close() },
      { name: "visitors", middleware: visitors },
      rpcPlugin({ router }),
    ],
    routes: [
      {
        path: "/",
        loader({ context }) {
          const query = context.url.searchParams.get("q") ?? "";
          const countries = searchCountries(database, query);
          const favourites = favouritesOf(context);
          return html(ListPage({ query, countries, favourites }));
        },
      },
      {
        path: "/countries/:code",
        loader({ params, context }) {
          const country = findCountry(database, params.code!);
          if (!country) return html(NotFoundPage(), 404);
          const borders = findBorders(database, country.code);
          const favourites = favouritesOf(context);
          return html(CountryPage({ country, borders, favourites }));
        },
      },
      {
        path: "/api/countries",
        handler(_request, { url }) {
          const query = url.searchParams.get("q") ?? "";
          return Response.json(searchCountries(database, query));
        },
      },
      { path: "/api/openapi.json", handler: () => Response.json(openAPI) },
      {
        path: "/script.js",
        handler: async () => new Response(await pageScript(), SCRIPT),
      },
      { path: "/style.css", handler: () => new Response(STYLE, CSS) },
    ],
  });
}

const SCRIPT = {
  headers: { "content-type": "text/javascript; charset=utf-8" },
};
const CSS = { headers: { "content-type": "text/css; charset=utf-8" } };
const STYLE = await Deno.readTextFile(new URL("style.css", import.meta.url));
