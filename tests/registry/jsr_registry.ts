/**
 * A registry on this machine that speaks JSR's protocol: what `deno publish`
 * sends, and what `deno add` and everything that resolves `jsr:` asks for.
 * Set `JSR_URL` to its address.
 *
 * @module
 */

import { officialStd } from "./official_std.ts";
import { PackageStore } from "./package_store.ts";
import { PublishingTasks } from "./publishing_tasks.ts";
import { serveApi } from "./registry_api.ts";
import { serveFiles } from "./registry_files.ts";

/** A registry that ends with the block that it was started in. */
export interface Registry extends AsyncDisposable {
  /** Its address, for `JSR_URL`. */
  readonly url: string;
  /** What signs in to it. */
  readonly token: string;
  /** What it has: at first the official `@std`. */
  readonly packages: PackageStore;
  /** What it was asked for, such as `GET /@std/http/meta.json`. */
  readonly requests: readonly string[];
}

/**
 * Starts a registry.
 *
 * @param names The packages that can be published to it. On JSR their owner
 * makes them on its site, before there is a version.
 */
export async function startRegistry(
  names: readonly string[],
): Promise<Registry> {
  const packages = new PackageStore();
  for (const std of await officialStd()) {
    packages.create(std.name);
    await packages.add(std);
  }
  for (const name of names) packages.create(name);

  const token = crypto.randomUUID();
  const tasks = new PublishingTasks(packages);
  const requests: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      requests.push(`${request.method} ${pathname}`);
      return pathname.startsWith("/api/")
        ? await serveApi(request, packages, tasks, token)
        : serveFiles(pathname, packages);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    token,
    packages,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
