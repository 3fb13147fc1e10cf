/**
 * Any symbol asks for the path of a call that was not made:
 * `rpc.posts.list.query[PATH]` is `["posts", "list", "query"]`.
 */
export const PATH: unique symbol = Symbol("path");

/** The functions that a path may end in, by name. */
export type Methods = {
  readonly [method: string]:
    | ((
      procedure: readonly string[],
      // deno-lint-ignore no-explicit-any -- the types of a client say what fits
      input: any,
      // deno-lint-ignore no-explicit-any -- the types of a client say what fits
      options: any,
    ) => unknown)
    | null
    | undefined;
};

/**
 * Creates an object that has every property, to any depth, and calls the method
 * that a path ends in with the path up to it. A property is the same each time
 * it is read, so that frameworks which compare see that nothing has changed.
 *
 * @param methods Without a prototype, so that it has what it lists only.
 */
export function createPathProxy(
  methods: Methods,
  path: readonly string[] = [],
): unknown {
  // A function as `then` would make a call of `await rpc`, one as `toJSON` of
  // `JSON.stringify(rpc)`. createRouter() asks here which names that leaves.
  const parts: Record<string, unknown> = {
    __proto__: null,
    then: undefined,
    toJSON: undefined,
  };
  return new Proxy(() => {}, {
    get: (_, key) =>
      typeof key === "symbol"
        ? path
        : key in parts
        ? parts[key]
        : parts[key] = createPathProxy(methods, [...path, key]),
    apply(_, _this, args: [input: unknown, options: unknown]) {
      const procedure = [...path];
      const call = methods[procedure.pop()!];
      if (call) return call(procedure, ...args);
      throw new TypeError(
        `Cannot call ${path.join(".")}: use ${Object.keys(methods)}`,
      );
    },
  });
}
