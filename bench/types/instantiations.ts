/**
 * Measures the compiler's work for a router of 300 procedures and a client that
 * calls 100 of them, compared with other libraries.
 *
 * Run it with `deno task bench types/instantiations`. Arguments of the file:
 * the names of the candidates (default: all).
 *
 * @module
 */

import { printFigures } from "../viewer/figures.ts";
import type { Figure } from "../viewer/figures.ts";
import { check, installPeers } from "./check.ts";
import { DIALECTS } from "./generate.ts";

const LIMIT = 100;
const names = Deno.args.length > 0 ? Deno.args : Object.keys(DIALECTS);

await using packages = await installPeers();
const figures: Figure[] = [];
for (const name of names) {
  const { errors, instantiations } = await check(packages, name, "client");
  if (errors.length > 0) {
    throw new Error(`${name}: right calls fail\n${errors[0]}`);
  }
  // An import that isn't found has the type `any`, which is fast and proves
  // nothing.
  const probe = await check(packages, name, "probe");
  if (probe.errors.length !== 2) {
    throw new Error(
      `${name}: two wrong calls give ${probe.errors.length} errors\n${
        probe.errors.join("\n")
      }`,
    );
  }
  figures.push({
    name,
    value: instantiations / 1000,
    unit: "k",
    ...(name === "@quartet/kit" ? { limit: LIMIT } : {}),
  });
}
printFigures("Instantiations of types, 300 procedures, 100 calls", figures);
