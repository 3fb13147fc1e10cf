/** The plugin of docs/bundling.md, with the kit from JSR. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ROOT } from "../helpers.ts";
import type { Registry } from "./jsr_registry.ts";
import { makeProject } from "./project.ts";
import deno from "../../deno.json" with { type: "json" };

const PAGE = `
import { createHTTPClient } from "@quartet/kit/rpc/client";
document.title = String(createHTTPClient({ httpEndpoint: "/api/rpc" }));
`;

/** Checks that the plugin bundles the published client. */
export async function bundleKit(registry: Registry): Promise<void> {
  const text = await Deno.readTextFile(new URL("docs/bundling.md", ROOT));
  const [, section] = text.split("## esbuild in a Deno project");
  const [, code] = section!.split("```ts ignore\n");
  await using project = await makeProject(registry);
  const added = await project.run(
    "add",
    `jsr:${deno.name}`,
    "npm:esbuild@0.28.2",
  );
  assertEquals(added.code, 0, added.output);
  await Deno.writeTextFile(`${project.path}/page.ts`, PAGE);
  await Deno.writeTextFile(
    `${project.path}/build.ts`,
    code!.split("```")[0]!,
  );
  const built = await project.run("run", "-A", "build.ts");
  assertEquals(built.code, 0, built.output);
  const path = `${project.path}/public/page.js`;
  const script = await Deno.readTextFile(path);
  assertStringIncludes(script, "/api/rpc");
  assert(!/\b(import|export)\b[^(]*from/.test(script));
}
