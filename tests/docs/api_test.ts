/**
 * Tests of the API reference that `deno doc` writes from the comments.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { ROOT, startDeno } from "../helpers.ts";
import config from "../../deno.json" with { type: "json" };

/** The part of the output of `deno doc --json` that is used here. */
type Nodes = Readonly<Record<string, Module>>;

interface Module {
  readonly module_doc?: unknown;
  readonly symbols: readonly Exported[];
}

interface Exported {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

interface Declaration {
  readonly kind: string;
  readonly location: Location;
  /** For a `reference`: the location of the declaration. */
  readonly def?: { readonly target?: Location };
}

interface Location {
  readonly filename: string;
  readonly line: number;
  readonly col: number;
}

async function readDocs(files: readonly string[]): Promise<Nodes> {
  await using child = startDeno(["doc", "--json", ...files]);
  assertEquals(await child.code, 0, child.stderr);
  return JSON.parse(child.stdout).nodes;
}

const entries = Object.values(config.exports)
  .map((path) => new URL(path, ROOT).href);
const modules = await readDocs(entries);
const targets = Object.values(modules).flatMap(({ symbols }) =>
  symbols.flatMap(({ declarations }) =>
    declarations.map(({ def }) => def?.target?.filename ?? [])
  )
).flat();
const files = await readDocs([...new Set(targets)]);

/**
 * Returns the declarations that carry a symbol's comments. A re-export has
 * none.
 */
function declarationsOf({ name, declarations }: Exported): unknown[] {
  return declarations.map((declaration) => {
    const target = declaration.def?.target;
    if (declaration.kind !== "reference" || target === undefined) {
      return declaration;
    }
    const found = files[target.filename]?.symbols.find((symbol) =>
      symbol.declarations.some(({ location }) =>
        location.line === target.line && location.col === target.col
      )
    );
    assert(found, `${name} has no declaration`);
    return found;
  });
}

/** Yields each comment of an entry point, and its owner. */
function* commentsOf(entry: string): Generator<[of: string, text: string]> {
  const { module_doc = null, symbols } = modules[entry]!;
  yield ["module", JSON.stringify(module_doc)];
  for (const symbol of symbols) {
    yield [symbol.name, JSON.stringify(declarationsOf(symbol))];
  }
}

Deno.test("Each {@link} leads to an export of the same entry point", () => {
  const broken: string[] = [];
  let count = 0;
  for (const entry of entries) {
    const names = new Set(modules[entry]!.symbols.map(({ name }) => name));
    for (const [of, text] of commentsOf(entry)) {
      for (const [, to] of text.matchAll(/\{@link\w*\s+([^\s|}]+)/g)) {
        count++;
        if (URL.canParse(to!) || names.has(to!.split(".", 1)[0]!)) continue;
        broken.push(`${entry.slice(ROOT.href.length)} ${of}: ${to}`);
      }
    }
  }
  assert(count > 100);
  assertEquals(broken, []);
});

/** Functions for Node and Bun: this runtime can't run their examples. */
const ELSEWHERE = ["toBun", "toNode"];

Deno.test("Each example in the API reference is run, except those for other runtimes", () => {
  const ignored: string[] = [];
  for (const entry of entries) {
    for (const [of, text] of commentsOf(entry)) {
      if (/```\w+ ignore/.test(text) && !ELSEWHERE.includes(of)) {
        ignored.push(of);
      }
    }
  }
  assertEquals(ignored, []);
});

Deno.test("The main entry point names all others", () => {
  const [, text] = commentsOf(new URL("mod.ts", ROOT).href).next().value!;
  const missing = Object.keys(config.exports).filter((name) =>
    name !== "." && !text.includes(`\`${config.name}${name.slice(1)}\``)
  );
  assertEquals(missing, []);
});
