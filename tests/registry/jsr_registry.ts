/**
 * A local registry that speaks JSR's protocol. It accepts `deno publish` and
 * serves `deno add` and everything else that resolves `jsr:` specifiers. Set
 * `JSR_URL` to its address.
 *
 * @module
 */

import { officialStd } from "./official_std.ts";
import { PackageStore } from "./package_store.ts";
import { PublishingTasks } from "./publishing_tasks.ts";
import { serveApi } from "./registry_api.ts";
import { serveFiles } from "./registry_files.ts";

/** A running registry. Disposing it stops it. */
export interface Registry extends AsyncDisposable {
  /** Its address, for `JSR_URL`. */
  readonly url: string;
  /** Token that may publish to it. */
  readonly token: string;
  /** Its packages: at first only the official `@std`. */
  readonly packages: PackageStore;
  /** The requests received, such as `GET /@std/http/meta.json`. */
  readonly requests: readonly string[];
}

/**
 * Starts a registry.
 *
 * @param names Packages that can be published to it. On JSR, their owner
 * creates them on the site before the first version.
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
