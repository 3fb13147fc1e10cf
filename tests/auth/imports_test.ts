/**
 * The modules that importing auth loads, because each adds to a cold start.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { ROOT, startDeno } from "../helpers.ts";

/** The part of the output of `deno info --json` that the test uses. */
interface Info {
  readonly roots: readonly string[];
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly code?: { readonly specifier?: string };
      readonly isDynamic?: boolean;
    }[];
  }[];
}

Deno.test("Importing auth loads neither jose nor node:crypto", async () => {
  const entry = new URL("auth/mod.ts", ROOT).href;
  await using child = startDeno(["info", "--json", entry]);
  assertEquals(await child.code, 0, child.stderr);
  const { roots, modules } = JSON.parse(child.stdout) as Info;
  const byName = new Map(modules.map((each) => [each.specifier, each]));
  const later: string[] = [];
  const loaded = new Set(roots);
  // Iterating a set also visits paths that the loop adds.
  for (const name of loaded) {
    for (const { code, isDynamic } of byName.get(name)?.dependencies ?? []) {
      if (code?.specifier === undefined) continue;
      if (isDynamic) later.push(code.specifier);
      else loaded.add(code.specifier);
    }
  }
  const foreign = [...loaded].filter((name) => !name.startsWith(ROOT.href));
  assertEquals(
    foreign.filter((name) => !name.startsWith("node:")),
    [],
    "no package is loaded at import",
  );
  assert(!foreign.includes("node:crypto"));
  assert(later.some((name) => name.includes("jose@")), "jose is loaded later");
});
