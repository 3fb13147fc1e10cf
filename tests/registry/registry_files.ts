import type { PackageStore, PublishedVersion } from "./package_store.ts";

/** `/@scope/name/rest` */
const PATH = /^\/(?<name>@[^/]+\/[^/]+)\/(?<rest>.+)$/;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript",
  json: "application/json",
  ts: "text/typescript",
};

/** Handles the requests that resolve and load `jsr:` specifiers. */
export function serveFiles(pathname: string, packages: PackageStore): Response {
  const { name, rest } = PATH.exec(decodeURI(pathname))?.groups ?? {};
  const versions = packages.versions(name ?? "");
  if (versions === undefined || versions.size === 0) return notFound();
  if (rest === "meta.json") return Response.json(describe(name!, versions));

  const meta = /^([^/]+)_meta\.json$/.exec(rest!);
  if (meta !== null) {
    const found = versions.get(meta[1]!);
    if (found === undefined) return notFound();
    const { manifest, exports } = found;
    return Response.json({ manifest, exports });
  }

  const [version, ...path] = rest!.split("/");
  const bytes = versions.get(version!)?.files.get(`/${path.join("/")}`);
  if (bytes === undefined) return notFound();
  const extension = pathname.split(".").at(-1)!;
  return new Response(bytes, {
    headers: { "content-type": MEDIA_TYPES[extension] ?? "text/plain" },
  });
}

/** Returns the content of a package's `meta.json`. */
function describe(
  name: string,
  versions: ReadonlyMap<string, PublishedVersion>,
): object {
  const [scope, shortName] = name.slice(1).split("/");
  return {
    scope,
    name: shortName,
    latest: [...versions.keys()].at(-1),
    versions: Object.fromEntries(
      versions.entries().map(([key, { createdAt }]) => [key, { createdAt }]),
    ),
  };
}

function notFound(): Response {
  return new Response("404 - Not Found", { status: 404 });
}
