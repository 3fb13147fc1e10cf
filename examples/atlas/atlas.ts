// Atlas, the countries of the world: the app itself. Start reading here.

import { createApp } from "@quartet/kit/app";
import type { App } from "@quartet/kit/app";
import { findBorders, findCountry, searchCountries } from "./countries.ts";
import { openDatabase } from "./database.ts";
import { CountryPage, ListPage, NotFoundPage } from "./pages.tsx";
import { html } from "./html.ts";
import { pageScript } from "./script.ts";

/** Settings of the demo. */
export interface AtlasOptions {
  /** The SQLite file; `:memory:` keeps everything in memory. */
  readonly database: string;
}

/** Makes the demo app. */
export function createAtlas(options: AtlasOptions): App {
  const database = openDatabase(options.database);

  return createApp({
    plugins: [{ name: "database", close: () => database.close() }],
    routes: [
      {
        path: "/",
        loader({ context }) {
          const query = context.url.searchParams.get("q") ?? "";
          const countries = searchCountries(database, query);
          return html(ListPage({ query, countries }));
        },
      },
      {
        path: "/countries/:code",
        loader({ params }) {
          const country = findCountry(database, params.code!);
          if (!country) return html(NotFoundPage(), 404);
          const borders = findBorders(database, country.code);
          return html(CountryPage({ country, borders }));
        },
      },
      {
        path: "/api/countries",
        handler(_request, { url }) {
          const query = url.searchParams.get("q") ?? "";
          return Response.json(searchCountries(database, query));
        },
      },
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
