// Atlas, the countries of the world. Creates the app; start reading here.

import { createApp, healthPlugin } from "@quartet/kit/app";
import type { App } from "@quartet/kit/app";
import {
  createChannel,
  createOpenAPIDocument,
  rpcPlugin,
} from "@quartet/kit/rpc";
import { accountRoutes } from "./account.tsx";
import { adminRoutes } from "./admin.tsx";
import { createApi } from "./api.ts";
import { createAuth } from "./auth.ts";
import { createCountryCache } from "./country_cache.ts";
import { countryRoutes } from "./country_routes.tsx";
import { openDatabase } from "./database.ts";
import { startHillside } from "./hillside.ts";
import { refusals } from "./refusals.tsx";
import { pageScript } from "./script.ts";
import { randomSecret } from "./secret.ts";
import { signInRoutes } from "./sign_in.tsx";
import { signUpRoutes } from "./sign_up.tsx";
import type { SharedStores } from "./stores.ts";

export interface AtlasOptions {
  /** The path of the SQLite file, or `:memory:`. */
  readonly database: string;
  /** The secret that signs sessions. Default: random. */
  readonly sessionSecret?: string | undefined;
  /**
   * The bearer token of the webhook `/api/revalidate`. Default: random, so the
   * webhook can't be used.
   */
  readonly revalidateSecret?: string | undefined;
  /** The stores that several processes share. Default: memory of this process. */
  readonly stores?: SharedStores | undefined;
}

export function createAtlas(options: AtlasOptions): App {
  const { sessionSecret, revalidateSecret, stores } = options;
  const database = openDatabase(options.database);
  const cache = createCountryCache(database, stores?.cache);
  const hillside = startHillside();
  const changes = stores?.changes ?? createChannel<string>();
  const auth = createAuth(database, {
    secret: sessionSecret ?? randomSecret(),
    hillside,
    sessions: stores?.sessions,
    limits: stores?.limits,
  });
  const router = createApi(database, auth, changes);
  const openAPI = createOpenAPIDocument(router, {
    title: "Atlas",
    version: "1.0.0",
  });

  return createApp({
    // Forms are small. RPC has its own limit.
    maxBodySize: 16_384,
    plugins: [
      { name: "database", close: () => database.close() },
      {
        name: "stores",
        async close() {
          await cache.close();
          await stores?.close();
        },
      },
      healthPlugin(),
      hillside,
      auth,
      rpcPlugin({ router }),
      { name: "refusals", middleware: refusals },
    ],
    routes: [
      ...countryRoutes(database, cache, auth),
      ...signUpRoutes(database, auth),
      ...signInRoutes(auth),
      ...accountRoutes(auth),
      ...adminRoutes(database, cache),
      {
        // Other systems report changed countries here.
        path: "/api/revalidate",
        method: "*",
        handler: cache.webhook(revalidateSecret ?? randomSecret()),
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
