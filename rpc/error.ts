import { checkValue } from "../core/check/options.ts";
import { anIntegerBetween, aNonEmptyString } from "../core/check/rules.ts";

/** The codes of the router's own errors. */
export type RPCErrorCode =
  | "PARSE_ERROR"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "METHOD_MISMATCH"
  | "VALIDATION_ERROR"
  | "INTERNAL_ERROR"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "BAD_REQUEST"
  | "RATE_LIMITED"
  | "PAYLOAD_TOO_LARGE"
  | "SUBSCRIPTION_ERROR"
  | "UNAVAILABLE"
  | "DUPLICATE_ID";

/** Options of an {@linkcode RPCError}. */
export interface RPCErrorOptions {
  /** More information for the caller, sent as JSON. */
  readonly details?: unknown;
  /** Headers of the response, such as `Retry-After`. */
  readonly headers?: NonNullable<ResponseInit["headers"]>;
  /** The cause of the error. It stays on the server. */
  readonly cause?: unknown;
}

/** A failure, as callers see it. */
export interface RPCFailure {
  /** A stable name for programs, in capitals. */
  readonly code: string;
  /** A sentence for people. */
  readonly message: string;
  /** More information, if any. */
  readonly details?: unknown;
}

const CREATE = "create RPCError";
/** The rule for the status of an error. */
export const aFailureStatus = anIntegerBetween(400, 599);

/**
 * An error for the caller. Any other error of a procedure is logged, and the
 * caller gets `INTERNAL_ERROR`.
 *
 * @example
 * ```ts
 * import { RPCError } from "@quartet/kit/rpc";
 *
 * const error = new RPCError("OUT_OF_STOCK", "None left", 409);
 * console.assert(error.status === 409);
 * ```
 */
export class RPCError extends Error {
  /** Always `RPCError`. */
  override readonly name = "RPCError";
  /** A stable name for programs, in capitals. */
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** More information, sent to the caller as JSON. */
  readonly details: unknown;
  /** Headers of the HTTP response, by lower-case name. */
  readonly headers: Readonly<Record<string, string>> | undefined;

  /**
   * Creates an error for the caller.
   *
   * @param code A stable name for programs: one of the router's or your own.
   * @param message A sentence for people.
   * @param status The HTTP status, 400 to 599. Default 400.
   * @param options Details, headers and the cause.
   * @throws {TypeError} If the code is empty, the status is out of range, or a
   * header is malformed or reserved for the response itself.
   */
  constructor(
    code: RPCErrorCode | (string & Record<never, never>),
    message: string,
    status = 400,
    options: RPCErrorOptions = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    checkValue(code, "code", aNonEmptyString, CREATE);
    checkValue(status, "status", aFailureStatus, CREATE);
    this.code = code;
    this.status = status;
    this.details = options.details;
    // Checked here and not when it is sent, so that the stack shows the cause.
    this.headers = options.headers && copyHeaders(options.headers);
  }

  /** Returns the failure as callers see it. */
  toJSON(): RPCFailure {
    const { code, message, details } = this;
    return details === undefined
      ? { code, message }
      : { code, message, details };
  }
}

/**
 * Creates common errors.
 *
 * @example
 * ```ts
 * import { errors, procedure } from "@quartet/kit/rpc";
 *
 * const secret = procedure.query(({ ctx }) => {
 *   if (!ctx.get("user")) throw errors.unauthorized();
 *   return 42;
 * });
 * console.assert(secret.kind === "query");
 * console.assert(errors.unauthorized().status === 401);
 * ```
 */
export const errors = {
  /** 401 `UNAUTHORIZED`: the caller isn't signed in. */
  unauthorized: (message = "Unauthorized"): RPCError =>
    new RPCError("UNAUTHORIZED", message, 401),
  /** 403 `FORBIDDEN`: the user isn't allowed to do this. */
  forbidden: (message = "Forbidden"): RPCError =>
    new RPCError("FORBIDDEN", message, 403),
  /** 404 `NOT_FOUND`: the resource doesn't exist. */
  notFound: (message = "Not found"): RPCError =>
    new RPCError("NOT_FOUND", message, 404),
  /** 400 `BAD_REQUEST`: the request is invalid. */
  badRequest: (message: string): RPCError =>
    new RPCError("BAD_REQUEST", message, 400),
} as const;

/** Returns an error as JSON text, without details that JSON can't represent. */
export function stringifyError(error: RPCError): string {
  try {
    return JSON.stringify(error);
  } catch {
    const { code, message } = error;
    return JSON.stringify({ code, message });
  }
}

/** Headers that describe the response's own body and connection. */
const OWN_HEADERS = [
  "connection",
  "content-length",
  "content-type",
  "transfer-encoding",
];

/** Returns the name of a header that only the response itself may set. */
export function ownHeaderIn(headers: Headers): string | undefined {
  return OWN_HEADERS.find((name) => headers.has(name));
}

function copyHeaders(init: HeadersInit): Readonly<Record<string, string>> {
  const headers = new Headers(init);
  const name = ownHeaderIn(headers);
  if (name !== undefined) {
    throw new TypeError(
      `Cannot create RPCError: headers must not contain ${name}, which the response sets itself`,
    );
  }
  if (headers.getSetCookie().length > 1) {
    throw new TypeError(
      "Cannot create RPCError: headers must contain at most one set-cookie",
    );
  }
  return Object.freeze(Object.fromEntries(headers));
}
