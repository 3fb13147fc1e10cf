/**
 * The first start of the demo, in a clean clone with an empty cache.
 *
 * @module
 */

import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { addressOf } from "../dev/dev_command.ts";
import { startDeno } from "../helpers.ts";
import { makeCheckout } from "./checkout.ts";

const TARBALL = /^Download \S*?((?:@[^/\s]+\/)?[^/\s]+)\/-\/\S+\.tgz$/gm;

/** A small package of the demo. If npm has it, npm can be reached. */
const PROBE = "npm:rou3@1.0.0";

/** The other packages of the demo, without platforms and modules of Redis. */
const PACKAGES = [
  "@opentelemetry/api",
  "deno-std",
  "devalue",
  "esbuild",
  "jose",
  "preact",
  "preact-render-to-string",
  "redis",
  "world-countries",
  "zod",
];

const cache = await Deno.makeTempDir();
const env = { DENO_DIR: cache };

async function isNpmReachable(): Promise<boolean> {
  await using child = startDeno(["cache", PROBE], cache, { env });
  return await child.code === 0;
}

Deno.test({
  name:
    "The demo's first start fetches only its own packages and prints no warning",
  ignore: !await isNpmReachable(),
  async fn() {
    await using checkout = await makeCheckout();
    await using child = startDeno(
      ["task", "dev", "--trace", "--port", "0"],
      checkout.path,
      { env },
    );
    const url = await addressOf(child);
    // Both need packages: the page to be rendered, and its script to be built.
    const page = await (await fetch(url)).text();
    const [, script = ""] = /<script[^>]* src="([^"]+)"/.exec(page) ?? [];
    const response = await fetch(new URL(script, url));
    await response.body?.cancel();
    assertMatch(response.headers.get("content-type") ?? "", /javascript/);
    child.kill("SIGTERM");
    await child.code;

    assertNotMatch(child.stderr, /warning/i);
    const fetched = new Set(
      Array.from(child.stderr.matchAll(TARBALL), ([, name]) => name!),
    );
    const scoped = ["@esbuild/", "@redis/"];
    const names = [...fetched]
      .filter((name) => !scoped.some((scope) => name.startsWith(scope)));
    assertEquals(names.toSorted(), PACKAGES);
    const changes = (await checkout.changes()).split("\n");
    // Ignored files (`!!`) are the demo's database and secret.
    assertEquals(changes.filter((line) => !/^!!|^$/.test(line)), []);
  },
});

Deno.test.afterAll(() => Deno.remove(cache, { recursive: true }));
