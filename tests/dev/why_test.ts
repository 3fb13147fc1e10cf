import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ROOT } from "../helpers.ts";
import { serveApp } from "./dev_command.ts";

const APP = `
  import { createApp } from "${new URL("app/mod.ts", ROOT)}";
  import { createAuthPlugin, requireRoles } from "${new URL(
  "auth/mod.ts",
  ROOT,
)}";
  import { cacheFunction, revalidateTag } from "${new URL(
  "data/mod.ts",
  ROOT,
)}";
  import { createRouter, procedure, rpcPlugin } from "${new URL(
  "rpc/mod.ts",
  ROOT,
)}";

  const server = Deno.serve({ port: 0, onListen() {} }, ({ headers }) =>
    new Response(headers.get("traceparent") ?? "no trace"));
  const post = cacheFunction(async (id) => {
    const url = "http://127.0.0.1:" + server.addr.port + "/post?token=xyz";
    return id + ": " + await (await fetch(url)).text();
  }, ["post"], { tags: ["post:7"] });
  const title = {
    parse() {},
    safeParse: (value) => ({
      success: false,
      error: { issues: [{ path: ["title"], message: value.title + " is taken" }] },
    }),
  };
  const router = createRouter({
    publish: procedure.mutation(() => revalidateTag("post:7")),
    rename: procedure.mutation(title, () => "done"),
  });
  export default createApp({
    plugins: [
      createAuthPlugin({ session: { secret: "s".repeat(32) } }),
      rpcPlugin({ router }),
    ],
    routes: [
      { path: "/post", handler: async () => new Response(await post(7)) },
      { path: "/admin", config: { ...requireRoles(["admin"]) }, loader: () => 1 },
    ],
  });`;

Deno.test("dev --trace prints why a request was refused and a look-up missed, and what it fetched", async () => {
  await using app = await serveApp(APP, "--trace", "--no-panel");
  const { child, url } = app;
  const call = async (path: string, input?: unknown) => {
    const response = await fetch(
      new URL(path, url),
      input === undefined ? {} : {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(input),
      },
    );
    return await response.text();
  };
  assertEquals(await call("/post"), "7: no trace");
  assertStringIncludes(
    await call("/api/rpc", { path: ["publish"], type: "mutation" }),
    "post:7",
  );
  await call("/post");
  await call("/admin");
  await call("/api/rpc", {
    path: ["rename"],
    type: "mutation",
    input: { title: "Secret plan" },
  });
  await child.printed(/rpc:rename refused: title: … is taken/);
  await call("/api/rpc", { path: ["expense", "add"], type: "mutation" });
  await child.printed(
    /POST \/api\/rpc 404 [\d.]+ms Procedure not found: expense\.add\n/,
  );
  for (
    const text of [
      `cache.get ["post",7] miss: it was never computed`,
      "fetch GET 127.0.0.1",
      "cache.invalidate tag post:7: 1 known entry",
      "auth:requireRoles refused: a signed-in user is required",
    ]
  ) assertStringIncludes(child.stdout, text);
  assert(/miss: tag post:7 was invalidated \d+ ms ago/.test(child.stdout));
  assertEquals(/xyz|Secret/.test(child.stdout), false);

  const { keys } = JSON.parse(await call("/__app/traces/cache"));
  assertEquals(keys.map(({ key }: { key: string }) => key), [`["post",7]`]);
  const { traces } = JSON.parse(await call("/__app/traces/api"));
  type Span = { name: string; attributes: Record<string, string> };
  const spans: Span[] = traces.flatMap(({ spans }: { spans: Span[] }) => spans);
  const misses = spans.filter(({ name }) => name === "cache.get");
  assertEquals(misses.length, 2);
  const reasons = misses.map(({ attributes }) => attributes["app.reason"]!);
  assert(
    reasons.some((reason) =>
      reason.endsWith(" by rpc:publish in POST /api/rpc")
    ),
    `${reasons}`,
  );
  const text = JSON.stringify(spans);
  assertEquals(/token=xyz|Secret/.test(text), false);
});
