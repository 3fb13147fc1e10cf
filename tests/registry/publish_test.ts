/**
 * `deno task publish` in a copy of the project: its checks, its refusals, and
 * that it leaves no changes behind. Then the published version in projects of
 * users.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import { startDeno } from "../helpers.ts";
import { testPublished } from "./add_kit.ts";
import { makeCheckout } from "./checkout.ts";
import type { Checkout } from "./checkout.ts";
import { startRegistry } from "./jsr_registry.ts";
import type { Registry } from "./jsr_registry.ts";
import { dateChangelog, runPublish } from "./publish_kit.ts";
import deno from "../../deno.json" with { type: "json" };

const { name, version } = deno;
/** A version without an entry in the changelog. */
const LATER = version.replace(/\d+$/, (patch) => `${Number(patch) + 1}`);
/** An address where nothing listens. */
const NOWHERE = "http://127.0.0.1:1";

Deno.test("deno task publish rejects unknown arguments with exit code 2", async () => {
  for (const argument of ["--force", "now"]) {
    await using child = startDeno(["run", "-A", "tools/publish.ts", argument]);
    assertEquals(await child.code, 2);
    assertStringIncludes(child.stderr, argument);
    assertStringIncludes(child.stderr, "Usage: deno task publish [--execute]");
  }
});

Deno.test("deno task publish only publishes a version that is ready", async (t) => {
  await using registry = await startRegistry([name]);
  await using checkout = await makeCheckout();
  const env = { JSR_URL: registry.url, JSR_TOKEN: registry.token };

  /** Checks that publishing fails with this reason and changes nothing. */
  async function refused(reason: string, changed: object = {}): Promise<void> {
    const changes = await checkout.changes();
    const { code, output } = await runPublish(checkout, ["--execute"], {
      ...env,
      ...changed,
    });
    assertEquals(code, 1, output);
    assertStringIncludes(output, reason);
    assert(!output.includes(registry.token));
    assertEquals(await checkout.changes(), changes);
    assertEquals(registry.packages.versions(name)!.size, 0);
  }

  await t.step(
    "a dry run needs npm only and prints no warning",
    async () => {
      const { code, output } = await runPublish(checkout, [], {
        JSR_URL: NOWHERE,
      });
      assertEquals(code, 0, output);
      assertNotMatch(output, /warning\[|Warning:/);
      assertStringIncludes(output, "jsr:@std/crypto@^1.0.0/timing-safe-equal");
      assertEquals(await checkout.changes(), "");
    },
  );

  await t.step(
    "a version without an entry in the changelog is rejected",
    async () => {
      await setVersion(checkout, version, LATER);
      await refused(
        `Cannot publish ${name}@${LATER}: the newest heading of CHANGELOG.md must be "## ${LATER}, YYYY-MM-DD", received "## ${version}, `,
      );
      await setVersion(checkout, LATER, version);
    },
  );

  await t.step("a version without a release date is rejected", async () => {
    await checkout.edit(
      "CHANGELOG.md",
      (text) => text.replace(/^(## \S+), .*$/m, "$1, unreleased"),
    );
    await refused(`received "## ${version}, unreleased"`);
  });

  await t.step("no request has been sent to the registry so far", () => {
    assertEquals(registry.requests, []);
  });
  await dateChangelog(checkout);

  await t.step(
    "an unreachable registry is reported",
    () => refused(`${NOWHERE} can't be reached`, { JSR_URL: NOWHERE }),
  );

  await t.step("uncommitted changes are rejected", async () => {
    await checkout.edit("README.md", (text) => `${text}\nMore.\n`);
    await refused("Uncommitted changes");
    await checkout.commit();
  });

  await t.step(
    "a wrong token is rejected",
    () => refused("invalidBearerToken", { JSR_TOKEN: "guessed" }),
  );

  await t.step("an interrupted run publishes nothing", async () => {
    await interrupt(checkout, env);
    assertEquals(await checkout.changes(), "");
    assertEquals(registry.packages.versions(name)!.size, 0);
  });

  await t.step("a version that is ready is published", async () => {
    const { code, output } = await runPublish(checkout, ["--execute"], env);
    assertEquals(code, 0, output);
    assertEquals(await checkout.changes(), "");
    assert(registry.packages.versions(name)!.has(version));
  });

  await t.step(
    "a published version can't be published again",
    () => publishAgain(checkout, registry, env),
  );

  await t.step(
    "the published version can be added to a project that uses each entry point",
    (t) => testPublished(t, registry),
  );
});

async function setVersion(
  checkout: Checkout,
  from: string,
  to: string,
): Promise<void> {
  await checkout.edit(
    "deno.json",
    (text) => text.replace(`"version": "${from}"`, `"version": "${to}"`),
  );
}

/** Interrupts the command once it has written its config. */
async function interrupt(
  { path, cache }: Checkout,
  env: Record<string, string>,
): Promise<void> {
  using watcher = Deno.watchFs(path, { recursive: false });
  await using child = startDeno(
    ["run", "-A", "tools/publish.ts", "--execute"],
    path,
    { env: { DENO_DIR: cache, ...env } },
  );
  for await (const { paths } of watcher) {
    if (paths.some((changed) => changed.endsWith("/jsr.json"))) break;
  }
  child.kill("SIGINT");
  assertEquals(await child.code, 130, child.stderr);
}

async function publishAgain(
  checkout: Checkout,
  registry: Registry,
  env: Record<string, string>,
): Promise<void> {
  const { code, output } = await runPublish(checkout, ["--execute"], env);
  assertEquals(code, 1);
  assertStringIncludes(output, `${registry.url} has this version already`);

  const response = await fetch(
    `${registry.url}/api/scopes/${
      name.slice(1).replace("/", "/packages/")
    }/versions/${version}`,
    {
      method: "POST",
      headers: { authorization: `Bearer ${registry.token}` },
    },
  );
  assertEquals(response.status, 400);
  assertEquals((await response.json()).code, "duplicateVersionPublish");
}
