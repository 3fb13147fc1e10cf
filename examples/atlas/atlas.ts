// Atlas, the countries of the world: the app itself. Start reading here.

import { createApp } from "@quartet/kit/app";
import type { App, Context } from "@quartet/kit/app";
import { createCache, tags } from "@quartet/kit/data";
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
  /**
   * What a webhook has to bring to `/api/revalidate`. Default: a random one,
   * so that nobody can use it.
   */
  readonly revalidateSecret?: string | undefined;
}

/** Makes the demo app. */
export function createAtlas(options: AtlasOptions): App {
  const database = openDatabase(options.database);
  const router = createApi(database);
  const cache = createCache();
  const { revalidateSecret = crypto.randomUUID() } = options;
  const openAPI = createOpenAPIDocument(router, {
    title: "Atlas",
    version: "1.0.0",
  });

  const favouritesOf = (context: Context): CountryName[] => {
    const visitor: string | undefined = context.get("visitor");
    return visitor === undefined ? [] : listFavourites(database, visitor);
  };

  /** A country and its neighbours, the same for all visitors. */
  const loadCountry = (code: string) =>
    cache.cached(`country:${code}`, () => {
      const country = findCountry(database, code);
      return country && { country, borders: findBorders(database, code) };
    }, {
      maxAge: 3600,
      staleWhileRevalidate: 60,
      tags: [tags.collection("country"), tags.resource("country", code)],
      paths: [`/countries/${code}`],
    });

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
        async loader({ params, context }) {
          const found = await loadCountry(params.code!.toUpperCase());
          if (!found) return html(NotFoundPage(), 404);
          const favourites = favouritesOf(context);
          return html(CountryPage({ ...found, favourites }));
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
        // Whoever edits the countries elsewhere says here what has changed.
        path: "/api/revalidate",
        method: "*",
        handler: cache.createRevalidationHandler(revalidateSecret),
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
