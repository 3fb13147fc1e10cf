import { isObject } from "../../core/check/rules.ts";
import { fail, INVALID_PARAMS, REFUSED, type RPCMessage } from "./json_rpc.ts";

/** The revision whose requests carry their version. */
export const MODERN_VERSION = "2026-07-28";

/** The revisions that begin with `initialize`, the latest first. */
export const LEGACY_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
];

const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;

/** Maximum characters of a version in a response. */
const MAX_VERSION = 100;

const META = "io.modelcontextprotocol/";

/**
 * Returns the kind of revision that a message follows, or the response that
 * refuses it. Its body decides, and its headers must agree.
 */
export function checkRevision(
  headers: Headers,
  { id, method, params }: RPCMessage,
): "modern" | "legacy" | Response {
  const header = headers.get("mcp-protocol-version");
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  const version = meta[`${META}protocolVersion`];
  if (version === undefined) {
    if (header === MODERN_VERSION && id !== undefined) {
      const message = `params._meta must have ${META}protocolVersion`;
      return fail(400, INVALID_PARAMS, message, { id });
    }
    if (header === null || LEGACY_VERSIONS.includes(header)) return "legacy";
    return unsupported(header, REFUSED);
  }
  if (version !== MODERN_VERSION) {
    return unsupported(version, UNSUPPORTED_VERSION, id);
  }
  if (id === undefined || method === undefined) return "modern";
  if (!isObject(meta[`${META}clientCapabilities`])) {
    const message = `params._meta must have ${META}clientCapabilities`;
    return fail(400, INVALID_PARAMS, message, { id });
  }
  const named: [string, unknown][] = [
    ["mcp-protocol-version", version],
    ["mcp-method", method],
  ];
  if (method === "tools/call") named.push(["mcp-name", params["name"]]);
  const wrong = named.find(([name, value]) => headers.get(name) !== value);
  if (wrong === undefined) return "modern";
  const message = `The header ${wrong[0]} must be the same as in the body`;
  return fail(400, HEADER_MISMATCH, message, { id });
}

function unsupported(
  requested: unknown,
  code: number,
  id?: RPCMessage["id"],
): Response {
  const supported = [MODERN_VERSION, ...LEGACY_VERSIONS];
  const message = `The protocol version must be one of ${supported.join(", ")}`;
  // Other values may be too deep for a response.
  const data = typeof requested === "string"
    ? { supported, requested: requested.slice(0, MAX_VERSION) }
    : { supported };
  return fail(400, code, message, { id, data });
}
