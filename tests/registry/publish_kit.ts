import { startDeno } from "../helpers.ts";
import type { Checkout } from "./checkout.ts";
import { makeCheckout } from "./checkout.ts";
import type { Registry } from "./jsr_registry.ts";
import type { PublishedVersion } from "./package_store.ts";
import deno from "../../deno.json" with { type: "json" };

/** Result of a command. */
export interface Outcome {
  readonly code: number;
  /** Its output, including errors. */
  readonly output: string;
}

/** Runs `deno task publish` in a copy of the project. */
export async function runPublish(
  checkout: Checkout,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  await using child = startDeno(
    ["task", "publish", ...args],
    checkout.path,
    {
      env: {
        DENO_DIR: checkout.cache,
        // On GitHub, Deno would try to attest the provenance.
        DISABLE_JSR_PROVENANCE: "1",
        ...env,
      },
    },
  );
  const code = await child.code;
  return { code, output: child.stdout + child.stderr };
}

/** Writes today's date as the release date into the changelog. */
export async function dateChangelog(checkout: Checkout): Promise<void> {
  await checkout.edit("CHANGELOG.md", (text) =>
    text.replace(
      `## ${deno.version}, unreleased`,
      `## ${deno.version}, ${new Date().toISOString().slice(0, 10)}`,
    ));
  await checkout.commit();
}

/**
 * Publishes the kit as its maintainers do.
 *
 * @param registry Target registry. The package must exist in it.
 * @returns The published version.
 * @throws {Error} If publishing fails. The message contains the output.
 */
export async function publishKit(
  registry: Registry,
): Promise<PublishedVersion> {
  await using checkout = await makeCheckout();
  await dateChangelog(checkout);
  const { code, output } = await runPublish(
    checkout,
    ["--execute"],
    { JSR_URL: registry.url, JSR_TOKEN: registry.token },
  );
  const version = registry.packages.versions(deno.name)?.get(deno.version);
  if (code === 0 && version !== undefined) return version;
  throw new Error(`Cannot publish: exit code ${code}\n${output}`);
}
