import type { Packed } from "./pack.ts";

/** A registry that speaks npm's protocol. Disposing it stops it. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
}

/** Serves packages to npm and Bun, on localhost only. */
export async function serveRegistry(
  packages: readonly Packed[],
): Promise<Registry> {
  const served = new Map<string, (origin: string) => Response>();
  for (const { manifest, tarball } of packages) {
    const { name, version } = manifest;
    const path = `/${name}/-/${version}.tgz`;
    const integrity = await integrityOf(tarball);
    served.set(path, () => new Response(tarball));
    served.set(`/${name}`, (origin) =>
      Response.json({
        name,
        "dist-tags": { latest: version },
        versions: {
          [version]: {
            ...manifest,
            dist: { tarball: origin + path, integrity },
          },
        },
      }));
  }
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      const { origin, pathname } = new URL(request.url);
      return served.get(decodeURIComponent(pathname))?.(origin) ??
        Response.json({ error: "Not found" }, { status: 404 });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Returns the value of `dist.integrity` (W3C Subresource Integrity). */
async function integrityOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-512", bytes);
  return `sha512-${new Uint8Array(digest).toBase64()}`;
}
