/**
 * How much a client adds to a page, minified and gzipped.
 *
 * Run it with `deno task bench rpc/size`.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { installPackages, ROOT } from "../packages.ts";
import { printFigures } from "../viewer/figures.ts";
import type { Figure } from "../viewer/figures.ts";

interface Page {
  readonly name: string;
  readonly code: string;
  /** In KB. */
  readonly limit?: number;
}

const PAGES: readonly Page[] = [
  {
    name: "@quartet/kit, HTTP alone",
    code: `import { createHTTPClient } from "@quartet/kit/rpc/client";
      globalThis.rpc = createHTTPClient({ httpEndpoint: "/api/rpc" });`,
    limit: 1,
  },
  {
    name: "@quartet/kit, with subscriptions",
    code: `import { createClient } from "@quartet/kit/rpc/client";
      globalThis.rpc = createClient({ httpEndpoint: "/api/rpc" });`,
    limit: 2,
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

async function sizeOf({ code }: Page): Promise<number> {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: code, resolveDir: packages.path },
    alias: {
      "@quartet/kit/rpc/client": new URL("rpc/client.ts", ROOT).pathname,
    },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
  });
  const [file] = outputFiles;
  const stream = new Blob([file!.contents as Uint8Array<ArrayBuffer>])
    .stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength / 1024;
}

const figures: Figure[] = [];
for (const page of PAGES) {
  const { name, limit } = page;
  figures.push({
    name,
    value: await sizeOf(page),
    unit: "KB",
    ...(limit === undefined ? {} : { limit }),
  });
}
printFigures("Clients in a page, minified and gzipped", figures);
await esbuild.stop();
