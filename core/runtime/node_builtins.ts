/**
 * Modules of Node that few requests need, loaded at their first use.
 *
 * @module
 */

type NodeBuffer = typeof import("node:buffer");
type NodeCrypto = typeof import("node:crypto");
type NodeUtil = typeof import("node:util");

// Declared here: `node:process` would be another module to load.
declare const process: {
  getBuiltinModule(id: "node:buffer"): NodeBuffer;
  getBuiltinModule(id: "node:crypto"): NodeCrypto;
  getBuiltinModule(id: "node:util"): NodeUtil;
};

let buffer: NodeBuffer | undefined;
let crypto: NodeCrypto | undefined;
let util: NodeUtil | undefined;

/** Returns the bytes of a text in UTF-8. Encoding it takes 15 times as long. */
export function byteLength(text: string): number {
  buffer ??= process.getBuiltinModule("node:buffer");
  return buffer.Buffer.byteLength(text);
}

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
