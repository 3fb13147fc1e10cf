import * as esbuild from "esbuild";
import { ROOT } from "../packages.ts";

/** A page that calls over HTTP. */
export const HTTP_CLIENT = `
  import { createHTTPClient } from "@quartet/kit/rpc/client";
  globalThis.rpc = createHTTPClient({ httpEndpoint: "/api/rpc" });`;

/** A page that also subscribes. */
export const WHOLE_CLIENT = `
  import { createClient } from "@quartet/kit/rpc/client";
  globalThis.rpc = createClient({ httpEndpoint: "/api/rpc" });`;

/**
 * Returns the size of a page in bytes, minified and gzipped. The caller stops
 * esbuild afterwards.
 *
 * @param folder The folder of its packages, if they aren't the kit's.
 */
export async function sizeOf(
  code: string,
  folder = ROOT.pathname,
): Promise<number> {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: code, resolveDir: folder },
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
  return (await new Response(stream).arrayBuffer()).byteLength;
}
