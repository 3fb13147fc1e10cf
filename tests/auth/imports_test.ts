/**
 * The modules that importing auth loads, since each costs a cold start.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { ROOT, startDeno } from "../helpers.ts";

/** What `deno info --json` prints, as far as it is used here. */
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
  // A set visits what is added meanwhile.
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
    "no package is loaded at once",
  );
  assert(!foreign.includes("node:crypto"));
  assert(later.some((name) => name.includes("jose@")), "jose is loaded later");
});
