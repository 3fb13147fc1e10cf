/** The part of the output of `deno info --json` that is used. */
interface ModuleGraph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly { readonly specifier: string }[];
  }[];
}

/** A specifier that an import map resolves: no path, no URL, no `node:`. */
const BARE = /^(?!\.|[a-z]+:)/;

/**
 * Finds what modules, and those that they import, import from other packages.
 *
 * @param entries The modules, as paths relative to the root.
 * @param root The root of the project.
 * @returns The specifiers as the sources have them.
 */
export async function findImports(
  entries: readonly string[],
  root: URL,
): Promise<Set<string>> {
  const graphs = await Promise.all(entries.map((it) => readGraph(it, root)));
  const found = graphs
    .flatMap(({ modules }) => modules)
    // Declarations that the config adds are not published.
    .filter(({ specifier }) =>
      specifier.startsWith(root.href) && !specifier.endsWith(".d.ts")
    )
    .flatMap(({ dependencies = [] }) => dependencies)
    .map(({ specifier }) => specifier)
    .filter((specifier) => BARE.test(specifier));
  return new Set(found);
}

async function readGraph(entry: string, root: URL): Promise<ModuleGraph> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", entry],
    cwd: root,
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr));
  return JSON.parse(decoder.decode(stdout));
}
