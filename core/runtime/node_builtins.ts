/**
 * Modules of Node that few requests need, loaded at their first use.
 *
 * @module
 */

type NodeCrypto = typeof import("node:crypto");
type NodeUtil = typeof import("node:util");

// Declared here: `node:process` would be another module to load.
declare const process: {
  getBuiltinModule(id: "node:crypto"): NodeCrypto;
  getBuiltinModule(id: "node:util"): NodeUtil;
};

let crypto: NodeCrypto | undefined;
let util: NodeUtil | undefined;

/**
 * Returns `node:crypto`. Importing it takes 13 ms of a cold start, and most
 * requests need only Web Crypto.
 */
export function nodeCrypto(): NodeCrypto {
  return crypto ??= process.getBuiltinModule("node:crypto");
}

/** Returns `node:util`. Importing it takes 2 ms, and only errors need it. */
export function nodeUtil(): NodeUtil {
  return util ??= process.getBuiltinModule("node:util");
}
