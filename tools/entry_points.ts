/** Returns the file of each entry point of a `deno.json`, by its full name. */
export function entryPoints(
  config: { readonly name: string; readonly exports: Record<string, string> },
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config.exports).map(([name, path]) => [
      config.name + name.slice(1),
      path.replace("./", ""),
    ]),
  );
}
