// Declared here: `node:process` would be another module to load.
declare const process: {
  getBuiltinModule(id: "node:crypto"): typeof import("node:crypto");
};

let loaded: typeof import("node:crypto") | undefined;

/**
 * Returns `node:crypto`, and loads it when it is first used. Importing it takes
 * 13 ms of a cold start, and most requests need only Web Crypto.
 */
export function nodeCrypto(): typeof import("node:crypto") {
  return loaded ??= process.getBuiltinModule("node:crypto");
}
