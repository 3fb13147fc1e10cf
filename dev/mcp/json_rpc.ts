/**
 * Messages of JSON-RPC 2.0, as the Model Context Protocol restricts them.
 *
 * @module
 */

import { isObject } from "../../core/check/rules.ts";
import { PRIVATE_HEADERS } from "../../core/http/private_headers.ts";

/** The body isn't JSON. */
export const PARSE_ERROR = -32700;
/** The body isn't a message. */
export const INVALID_REQUEST = -32600;
/** The method isn't known. */
export const METHOD_NOT_FOUND = -32601;
/** The parameters are wrong. */
export const INVALID_PARAMS = -32602;
/** The request was refused before its body was read. */
export const REFUSED = -32000;

/** The id of a request. */
export type RPCId = string | number;

/** A message of a client. */
export interface RPCMessage {
  /** The id. Absent in notifications. */
  readonly id: RPCId | undefined;
  /** The method. Absent in responses. */
  readonly method: string | undefined;
  /** The named parameters. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Reads a message, or returns the problem. */
export function readMessage(body: unknown): RPCMessage | string {
  if (Array.isArray(body)) {
    return "The body must be one message: batches aren't part of the protocol";
  }
  const { jsonrpc, id, method, params = {}, result, error } = Object(body);
  const isId = id === undefined || typeof id === "string" ||
    Number.isSafeInteger(id);
  const isResponse = method === undefined && id !== undefined &&
    (result !== undefined || error !== undefined);
  const isValid = jsonrpc === "2.0" && isId &&
    (typeof method === "string" || isResponse) && isObject(params);
  return isValid
    ? { id, method, params }
    : "The body must be a JSON-RPC 2.0 message with an id that is a string or an integer";
}

/** Returns the response with a result. */
export function reply(id: RPCId, result: object): Response {
  return Response.json({ jsonrpc: "2.0", id, result }, {
    headers: PRIVATE_HEADERS,
  });
}

/** Details of a response with an error. */
export interface FailureDetails {
  /** The id of the request. Default: `null`, if it isn't known. */
  readonly id?: RPCId | undefined;
  /** Data for programs. */
  readonly data?: object;
  /** More response headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the response with an error. */
export function fail(
  status: number,
  code: number,
  message: string,
  { id, data, headers }: FailureDetails = {},
): Response {
  const error = { code, message, ...data !== undefined && { data } };
  return Response.json(
    { jsonrpc: "2.0", id: id ?? null, error },
    { status, headers: { ...PRIVATE_HEADERS, ...headers } },
  );
}
