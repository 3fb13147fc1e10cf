/**
 * Atlas in two processes with one Redis, as its README shows.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { addressOf, type Folder, makeFolder } from "../dev/dev_command.ts";
import { type Child, ROOT, startDeno } from "../helpers.ts";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { connect, subscribe } from "../rpc/helpers.ts";
import { unlessStalled } from "../stalls.ts";
import {
  createVisitor,
  emailOf,
  PASSWORD,
  type Visitor,
} from "./serve_atlas.ts";

const MAIN = new URL("examples/atlas/main.ts", ROOT).pathname;
const DEV = new URL("dev.ts", ROOT).pathname;

/** Starts two processes of Atlas at the same time. */
async function startTwo(redis: string, folder: Folder) {
  const env = {
    ATLAS_REDIS: redis,
    ATLAS_DATABASE: `${folder.path}/atlas.db`,
    ATLAS_SECRET: "the secret of both processes, 32 bytes",
  };
  const run = () =>
    startDeno(["run", "-A", "--no-check", DEV, MAIN, "--port", "0"], ROOT, {
      env,
    });
  const children: readonly [Child, Child] = [run(), run()];
  const [a, b] = await Promise.all(children.map(addressOf));
  return {
    a: a!.origin,
    b: b!.origin,
    async [Symbol.asyncDispose]() {
      for (const child of children) await child[Symbol.asyncDispose]();
    },
  };
}

/**
 * Creates a browser whose requests go to either process, as through a proxy.
 */
function createRoamer(first: string) {
  let origin = first;
  const visitor: Visitor = createVisitor(first, (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    return fetch(origin + url.pathname + url.search, init);
  });
  return { visitor, goTo: (other: string) => void (origin = other) };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!await isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

Deno.test({
  name: needsRedis(
    "Atlas in two processes shares sessions, cached pages and live favourites",
    hasRedisServer,
  ),
  ignore: !hasRedisServer,
  fn: unlessStalled(async () => {
    await using redis = await startRedis();
    await using folder = await makeFolder();
    await using atlas = await startTwo(redis.url, folder);
    const { a, b } = atlas;
    const { visitor, goTo } = createRoamer(a);
    const { status } = await visitor.submit("/sign-up", {
      name: "Ada",
      email: emailOf("Ada"),
      password: PASSWORD,
    });
    assertEquals(status, 303);

    // The session.
    goTo(b);
    assertEquals((await visitor.open("/account")).status, 200);

    // Live favourites: subscribed at one process, changed at the other.
    await using socket = await connect({
      url: `${b}/api/rpc`,
      headers: { cookie: visitor.cookie },
    });
    socket.send(subscribe("1", "favourites.live"));
    assertEquals((await socket.next()).data, []);
    goTo(a);
    await visitor.rpc.favourites.add.mutate({ code: "ISL" });
    const { data } = await socket.next();
    assertEquals(data.map(({ name }: { name: string }) => name), ["Iceland"]);

    // Cached pages: both processes have one, and one of them edits.
    const capitalAt = async (origin: string) => {
      const response = await fetch(`${origin}/countries/CHE`);
      return /<dt>Capital<\/dt><dd>(.*?)<\/dd>/.exec(await response.text())![1];
    };
    assertEquals([await capitalAt(a), await capitalAt(b)], ["Bern", "Bern"]);
    await visitor.submit("/admin/countries/CHE", { capital: "Zürich" });
    assertEquals(await capitalAt(a), "Zürich");
    await until(async () => await capitalAt(b) === "Zürich");

    // Readiness covers the shared store.
    const health = await fetch(`${b}/__app/health`);
    assertEquals([health.status, await health.json()], [200, {
      status: "ready",
    }]);

    // Failed sign-ins are counted in Redis, with the same keys for both.
    const keys = async () =>
      (await redis.send("KEYS", "{atlas:limits}*") as string[]).length;
    const failAt = (origin: string) =>
      createVisitor(origin).submit("/sign-in", {
        email: emailOf("Grace"),
        password: "wrong",
      });
    const before = await keys();
    await failAt(a);
    const counted = await keys();
    assert(counted > before);
    await failAt(b);
    assertEquals(await keys(), counted);

    // Signing out at one process ends the session and the socket at the other.
    await visitor.submit("/sign-out-everywhere");
    assertEquals((await socket.next()).error?.code, "UNAUTHORIZED");
    goTo(b);
    const { location } = await visitor.open("/account");
    assertStringIncludes(location!, "/sign-in");
  }),
});

Deno.test("Atlas in one process loads no Redis client", async () => {
  await using folder = await makeFolder();
  await folder.write(
    "start.ts",
    `import { createRequire } from "node:module";
     await import(${JSON.stringify(MAIN)});
     const { cache } = createRequire(import.meta.url);
     const isRedis = (path) => /\\/@?redis\\//.test(path);
     console.log(Object.keys(cache).filter(isRedis).length);
     Deno.exit();`,
  );
  await using child = startDeno(
    [
      "run",
      "-A",
      "--no-check",
      "--config",
      new URL("deno.json", ROOT).pathname,
      "--lock",
      new URL("deno.lock", ROOT).pathname,
      `${folder.path}/start.ts`,
    ],
    ROOT,
    { env: { ATLAS_DATABASE: ":memory:", ATLAS_SECRET: "x".repeat(40) } },
  );
  assertEquals(await child.code, 0, child.stderr);
  assertEquals(child.stdout.trim(), "0");
});
