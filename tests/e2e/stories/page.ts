/**
 * Pages of the stories, and their scripts.
 *
 * @module
 */

import type { Route } from "@quartet/kit/app";
import * as esbuild from "esbuild";
import { ROOT } from "../../helpers.ts";

/** Returns a page of the shop that loads `/page.js`. */
export function shopPage(title: string, body: string): Response {
  return new Response(
    `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script></head><body><h1>${title}</h1>${body}</body></html>`,
    { headers: { "content-type": "text/html; charset=utf-8" } },
  );
}

/**
 * Returns the route of `/page.js`. The script starts tracing first. It is
 * bundled here, so that no request waits for that.
 */
export async function scriptRoute(source = ""): Promise<Route> {
  const contents =
    `import { initClientTracing } from "@quartet/kit/trace/client";
    initClientTracing();
    ${source}`.replaceAll(
      /@quartet\/kit\/([\w/]+)/g,
      (_, entry) => new URL(`${entry}.ts`, ROOT).pathname,
    );
  const { outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: ROOT.pathname },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    tsconfigRaw: {},
  });
  // Otherwise esbuild's process keeps running.
  await esbuild.stop();
  const script = outputFiles[0]!.text;
  return {
    path: "/page.js",
    handler: () =>
      new Response(script, { headers: { "content-type": "text/javascript" } }),
  };
}
