import type { PackageStore } from "./package_store.ts";
import type { PublishingTasks } from "./publishing_tasks.ts";

const PACKAGE = new URLPattern({
  pathname: "/api/scopes/:scope/packages/:name",
});
const VERSION = new URLPattern({
  pathname: "/api/scopes/:scope/packages/:name/versions/:version",
});
const STATUS = new URLPattern({ pathname: "/api/publish_status/:id" });

/** Handles the requests of `deno publish`. */
export async function serveApi(
  request: Request,
  packages: PackageStore,
  tasks: PublishingTasks,
  token: string,
): Promise<Response> {
  const { href, searchParams } = new URL(request.url);
  const task = STATUS.exec(href)?.pathname.groups;
  if (task !== undefined) {
    const result = await tasks.result(task.id!);
    return result === undefined
      ? refuse(404, "publishingTaskNotFound", "There is no such task")
      : Response.json(result);
  }

  const { scope, name, version } = (VERSION.exec(href) ?? PACKAGE.exec(href))
    ?.pathname.groups ?? {};
  const fullName = `@${scope}/${name}`;
  const versions = packages.versions(fullName);
  if (versions === undefined) {
    return refuse(404, "packageNotFound", `There is no ${fullName}`);
  }
  if (version === undefined) {
    return Response.json({ scope, name, versionCount: versions.size });
  }
  if (request.method === "GET") {
    return versions.has(version)
      ? Response.json({ scope, package: name, version })
      : refuse(404, "packageVersionNotFound", `There is no ${version}`);
  }
  if (request.headers.get("authorization") !== `Bearer ${token}`) {
    return refuse(401, "invalidBearerToken", "The bearer token is not valid");
  }
  if (versions.has(version)) {
    return refuse(
      400,
      "duplicateVersionPublish",
      "This version already exists",
      {
        task: { id: "", status: "success", error: null },
      },
    );
  }
  const tarball = await request.bytes();
  const config = searchParams.get("config") ?? "/deno.json";
  return Response.json(
    tasks.start({ name: fullName, version, config, tarball }),
  );
}

function refuse(
  status: number,
  code: string,
  message: string,
  data: object = {},
): Response {
  return Response.json({ code, message, ...data }, { status });
}
