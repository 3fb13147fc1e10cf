/**
 * The key of a path. Any symbol works: `rpc.posts.list.query[PATH]` is
 * `["posts", "list", "query"]`.
 */
export const PATH: unique symbol = Symbol("path");

/** The methods at the end of a path, by name. */
export type Methods = {
  readonly [method: string]:
    | ((
      procedure: readonly string[],
      input: never,
      options: never,
    ) => unknown)
    | null
    | undefined;
};

/**
 * Creates an object with every property, to any depth. Calling a path calls the
 * method at its end with the rest of the path. Each property keeps its
 * identity, for frameworks that compare.
 *
 * @param methods The methods. The object must have no prototype.
 */
export function createPathProxy(
  methods: Methods,
  path: readonly string[] = [],
): unknown {
  // With a function `then`, `await rpc` would be a call, and with `toJSON`,
  // `JSON.stringify(rpc)`. createRouter() rejects these names.
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
    // The call's types are those of the client.
    apply(_, _this, args: [input: never, options: never]) {
      const procedure = [...path];
      const call = methods[procedure.pop()!];
      if (call) return call(procedure, ...args);
      throw new TypeError(
        `Cannot call ${path.join(".")}: use ${Object.keys(methods)}`,
      );
    },
  });
}
