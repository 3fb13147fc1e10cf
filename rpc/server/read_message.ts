/**
 * Reads and checks the messages of callers: in query strings, in bodies, and on
 * sockets.
 *
 * @module
 */

import { isObject, kindOf } from "../../core/check/rules.ts";
import type { BodyError } from "../../core/http/read_body.ts";
import { clip } from "../../core/redact/redact.ts";
import { errors, RPCError } from "../error.ts";
import type { ProcedureKind } from "../procedure/procedure.ts";
import type { Transformer } from "../protocol.ts";
import type { Endpoint } from "./call.ts";
import type { Endpoints } from "./endpoints.ts";

/** Returns the error for a malformed message. */
export function parseError(message: string): RPCError {
  return new RPCError("PARSE_ERROR", message);
}

/**
 * Parses JSON.
 *
 * @param what Names the text in the error.
 * @throws {RPCError} `PARSE_ERROR`, without any of the text.
 */
export function parseJSON(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw parseError(`${what} is not valid JSON`);
  }
}

/** An object in a message. Its fields haven't been checked. */
export type Fields = { readonly [key: string]: unknown };

/** @throws {RPCError} `PARSE_ERROR` if the value isn't an object. */
export function readObject(value: unknown, what: string): Fields {
  if (isObject(value)) return value;
  throw parseError(`${what} must be an object, received ${describe(value)}`);
}

/** @throws {RPCError} `PARSE_ERROR` if the text isn't an object in JSON. */
export function parseObject(text: string, what: string): Fields {
  return readObject(parseJSON(text, what), what);
}

/**
 * Finds a procedure by its dotted path.
 *
 * @throws {RPCError} `NOT_FOUND` if there is no such procedure.
 */
export function findByName(endpoints: Endpoints, path: string): Endpoint {
  return endpoints.get(path) ?? notFound(path);
}

/**
 * Finds a procedure by the keys of its path, as a message has them.
 *
 * @throws {RPCError} `PARSE_ERROR` if they aren't an array of strings,
 * `NOT_FOUND` if there is no such procedure.
 */
export function findByKeys(endpoints: Endpoints, path: unknown): Endpoint {
  if (!Array.isArray(path)) {
    throw parseError(
      `path must be an array of strings, received ${describe(path)}`,
    );
  }
  for (const key of path) {
    if (typeof key === "string") continue;
    throw parseError(`path must hold strings only, received ${describe(key)}`);
  }
  return endpoints.find(path) ?? notFound(path.join("."));
}

/** Maximum characters of an unknown path in an error. */
const MAX_PATH = 100;

/** @throws {RPCError} `NOT_FOUND`. */
export function notFound(path: string): never {
  throw errors.notFound(`Procedure not found: ${clip(path, MAX_PATH)}`);
}

/**
 * Reads the input in a message.
 *
 * @throws {RPCError} `PARSE_ERROR` if the transformer can't read it.
 */
export function readInput(
  transformer: Transformer | undefined,
  input: unknown,
): unknown {
  if (transformer === undefined || input === undefined) return input;
  if (typeof input === "string") {
    try {
      return transformer.parse(input);
    } catch {
      // Reported below.
    }
  }
  throw parseError("input must be text that the router's transformer can read");
}

/** Throws the caller's error for an error of reading a body. */
export function refuseBody(cause: unknown): never {
  const { problem, message } = cause as BodyError;
  throw problem === "TOO_LARGE"
    ? new RPCError("PAYLOAD_TOO_LARGE", message, 413)
    : parseError(message);
}

/**
 * Checks that a body is JSON. Browsers send JSON to another site only after a
 * CORS preflight, but forms and `text/plain` without one. JSON is always UTF-8
 * (RFC 8259, section 8.1).
 *
 * @throws {RPCError} `PARSE_ERROR` if it isn't.
 */
export function checkContentType(headers: Headers): void {
  const type = headers.get("content-type");
  if (type === "application/json") return;
  if (type !== null && isJsonType(type)) return;
  throw parseError("The content type must be application/json, in UTF-8");
}

const CHARSET = /^charset\s*=\s*"?utf-?8"?$/i;

/** Only a charset may follow, and a semicolon at the end. */
function isJsonType(text: string): boolean {
  const [type, ...parameters] = text.split(";", 4).map((part) => part.trim());
  if (type!.toLowerCase() !== "application/json") return false;
  if (parameters.at(-1) === "") parameters.pop();
  return parameters.length === 0 ||
    parameters.length === 1 && CHARSET.test(parameters[0]!);
}

/**
 * Checks that a procedure has the kind of the request.
 *
 * @throws {RPCError} If it isn't.
 */
export function checkKind(
  { path, procedure: { kind } }: Endpoint,
  type: unknown,
): void {
  if (kind === "subscription") {
    throw new RPCError(
      "METHOD_NOT_ALLOWED",
      `Cannot call ${path} over HTTP: it is a subscription, use subscribe() and a WebSocket`,
    );
  }
  if (kind === type) return;
  if (type !== "query" && type !== "mutation") {
    throw parseError(
      `type must be "query" or "mutation", received ${
        typeof type === "string" ? "another string" : describe(type)
      }`,
    );
  }
  throw new RPCError(
    "METHOD_MISMATCH",
    `Cannot call ${path} as a ${type}: it is a ${kind}, use ${methodOf(kind)}`,
  );
}

/** Returns the client's method for a kind of procedure. */
export function methodOf(kind: ProcedureKind): string {
  if (kind === "query") return "query()";
  return kind === "mutation" ? "mutate()" : "subscribe()";
}

/** Returns the error for methods other than GET, HEAD and POST. */
export function methodNotAllowed(method: string): RPCError {
  return new RPCError(
    "METHOD_NOT_ALLOWED",
    `${method} is not allowed: queries are sent by GET or POST, mutations by POST`,
    405,
    { headers: { allow: "GET, HEAD, POST" } },
  );
}

/** Returns the JSON type of a value. */
export function describe(value: unknown): string {
  return value === undefined ? "nothing" : kindOf(value);
}

/** The two parameters of a query by GET. */
interface QueryParameters {
  /** The procedure's dotted path; `null` if there is none. */
  path: string | null;
  /** The input as JSON; `null` if there is none. */
  input: string | null;
}

/**
 * Reads `path` and `input` from the query string of a URL, like
 * `searchParams.get()` of a `URL`, at an eighth of its cost.
 */
export function readQueryString(url: string): QueryParameters {
  const found: QueryParameters = { path: null, input: null };
  let start = url.indexOf("?") + 1;
  let end = url.indexOf("#");
  if (end === -1) end = url.length;
  // No query, or a question mark inside the fragment.
  if (start === 0 || start > end) return found;
  // The standard parser handles escapes in names, and malformed escapes.
  while (start < end) {
    let next = url.indexOf("&", start);
    if (next === -1 || next > end) next = end;
    if (url.startsWith("path=", start)) {
      found.path ??= url.slice(start + 5, next);
    } else if (url.startsWith("input=", start)) {
      found.input ??= url.slice(start + 6, next);
    } else if (!PLAIN_NAME.test(url.slice(start, next))) {
      return parse(url);
    }
    start = next + 1;
  }
  try {
    if (found.path !== null) found.path = decode(found.path);
    if (found.input !== null) found.input = decode(found.input);
    return found;
  } catch {
    return parse(url);
  }
}

/** Another parameter, whose name has no escapes. */
const PLAIN_NAME = /^(?!(?:path|input)$)[^%+=]*(?:=|$)/;

function decode(text: string): string {
  if (text.includes("+")) text = text.replaceAll("+", " ");
  return text.includes("%") ? decodeURIComponent(text) : text;
}

function parse(url: string): QueryParameters {
  const query = url.slice(url.indexOf("?"));
  const parameters = new URLSearchParams(query.split("#", 1)[0]);
  return { path: parameters.get("path"), input: parameters.get("input") };
}
