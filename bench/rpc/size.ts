/**
 * Measures how much a client adds to a page, minified and gzipped.
 *
 * Run it with `deno task bench rpc/size`.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { installPackages } from "../packages.ts";
import { printFigures } from "../viewer/figures.ts";
import type { Figure } from "../viewer/figures.ts";
import { HTTP_CLIENT, sizeOf, WHOLE_CLIENT } from "./page_size.ts";

interface Page {
  readonly name: string;
  readonly code: string;
  /** In KB. */
  readonly limit?: number;
}

const PAGES: readonly Page[] = [
  {
    name: "@quartet/kit, HTTP alone",
    code: HTTP_CLIENT,
    limit: 1.2,
  },
  {
    name: "@quartet/kit, with subscriptions",
    code: WHOLE_CLIENT,
    limit: 3,
  },
  {
    name: "tRPC, HTTP alone",
    code: `import { createTRPCClient, httpLink } from "@trpc/client";
      globalThis.rpc = createTRPCClient({ links: [httpLink({ url: "/rpc" })] });`,
  },
  {
    name: "tRPC, with subscriptions",
    code:
      `import { createTRPCClient, createWSClient, httpLink, splitLink, wsLink }
        from "@trpc/client";
      globalThis.rpc = createTRPCClient({
        links: [splitLink({
          condition: (op) => op.type === "subscription",
          true: wsLink({ client: createWSClient({ url: "/rpc" }) }),
          false: httpLink({ url: "/rpc" }),
        })],
      });`,
  },
  {
    name: "oRPC, HTTP and event streams",
    code: `import { createORPCClient } from "@orpc/client";
      import { RPCLink } from "@orpc/client/fetch";
      globalThis.rpc = createORPCClient(new RPCLink({ url: "/rpc" }));`,
  },
  {
    name: "Hono, without subscriptions",
    code: `import { hc } from "hono/client";
      globalThis.rpc = hc("/");`,
  },
];

await using packages = await installPackages([
  "@orpc/client",
  "@trpc/client",
  "@trpc/server",
  "hono",
]);

const figures: Figure[] = [];
for (const page of PAGES) {
  const { name, code, limit } = page;
  figures.push({
    name,
    value: await sizeOf(code, packages.path) / 1024,
    unit: "KB",
    ...(limit === undefined ? {} : { limit }),
  });
}
printFigures("Clients in a page, minified and gzipped", figures);
await esbuild.stop();
