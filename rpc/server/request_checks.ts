/**
 * The checks of HTTP requests, and their errors.
 *
 * @module
 */

import type { BodyError } from "../../core/http/read_body.ts";
import { RPCError } from "../error.ts";
import type { ProcedureKind } from "../procedure/procedure.ts";
import type { Endpoint } from "./call.ts";
import { describe, parseError } from "./read_message.ts";

/** Maps an error of reading a body to one for the caller. */
export function bodyFailure(cause: unknown): RPCError {
  const { problem, message } = cause as BodyError;
  return problem === "TOO_LARGE"
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
