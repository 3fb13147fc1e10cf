/**
 * Any symbol asks for the path of a call that was not made:
 * `rpc.posts.list.query[PATH]` is `["posts", "list", "query"]`.
 */
export const PATH: unique symbol = Symbol("path");

/** What is called: the keys up to it, and what it is called with. */
export type PathCall = (
  path: readonly string[],
  // deno-lint-ignore no-explicit-any -- the types of a client say what fits
  ...args: any[]
) => unknown;

/**
 * Makes an object that has every property, to any depth, and calls `call` with
 * the path to the one that is called.
 */
export function createPathProxy(
  call: PathCall,
  path: readonly string[] = [],
): unknown {
  return new Proxy(() => {}, {
    get: (_, key) =>
      typeof key === "symbol"
        ? path
        // Without this, `await rpc` and `JSON.stringify(rpc)` would call it.
        : key === "then" || key === "toJSON"
        ? undefined
        : createPathProxy(call, [...path, key]),
    apply: (_, _this, args) => call(path, ...args),
  });
}
