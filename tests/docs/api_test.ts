/**
 * The API reference, as `deno doc` makes it of the comments.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { ROOT, startDeno } from "../helpers.ts";
import config from "../../deno.json" with { type: "json" };

/** What `deno doc --json` prints, as far as it is used here. */
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
  /** Of a `reference`: where what is exported here is declared. */
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

/** A symbol with its comments, which a re-export doesn't have. */
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
    assert(found, `${name} is declared nowhere`);
    return found;
  });
}

/** All comments of an entry point, and what they belong to. */
function* commentsOf(entry: string): Generator<[of: string, text: string]> {
  const { module_doc = null, symbols } = modules[entry]!;
  yield ["module", JSON.stringify(module_doc)];
  for (const symbol of symbols) {
    yield [symbol.name, JSON.stringify(declarationsOf(symbol))];
  }
}

Deno.test("Each {@link} leads to something that the same entry point exports", () => {
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

/** They have a line beside their example that only Node or Bun can run. */
const ELSEWHERE = ["toBun", "toNode"];

Deno.test("Each example in the API reference is run, but those for other runtimes", () => {
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

Deno.test("The main entry point names the others", () => {
  const [, text] = commentsOf(new URL("mod.ts", ROOT).href).next().value!;
  const missing = Object.keys(config.exports).filter((name) =>
    name !== "." && !text.includes(`\`${config.name}${name.slice(1)}\``)
  );
  assertEquals(missing, []);
});
