/**
 * An `import()` that `deno publish` doesn't see. It would warn that it can't
 * rewrite the URL for JSR, but the URL of a user's file needs no rewriting.
 */
export const importModule = new Function("url", "return import(url)") as (
  url: string,
) => Promise<{ default?: unknown }>;
