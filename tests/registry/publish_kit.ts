import { startDeno } from "../helpers.ts";
import type { Checkout } from "./checkout.ts";
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
