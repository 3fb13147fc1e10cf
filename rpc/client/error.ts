import type { RPCFailure } from "../error.ts";

/**
 * The codes of the client itself:
 *
 * - `NETWORK_ERROR`: no answer came.
 * - `BAD_RESPONSE`: what came was not an answer of a router.
 * - `CONNECTION_LOST`: a socket could not be opened again.
 */
export type RPCClientErrorCode =
  | "NETWORK_ERROR"
  | "BAD_RESPONSE"
  | "CONNECTION_LOST";

/**
 * Why a call or a subscription failed. The code is one of the server's, or an
 * {@linkcode RPCClientErrorCode}.
 */
export class RPCClientError extends Error {
  // Declared here and assigned as one: fields would be twice as much code.
  /** Always `RPCClientError`. */
  declare readonly name: "RPCClientError";
  /** A stable name for programs, in capitals. */
  declare readonly code: string;
  /** The HTTP status; 0 where there is none: no answer, or a socket. */
  declare readonly status: number;
  /** The procedure's dotted path. */
  declare readonly path: string;
  /** More about it, as the server sent it. */
  declare readonly details: unknown;

  /**
   * Creates an error from the server's failure, or from the client's own. If
   * that has no code, it is `BAD_RESPONSE`.
   */
  constructor(
    failure: Partial<RPCFailure> | false | null | undefined,
    status: number,
    path: string,
    cause?: unknown,
  ) {
    // Nothing else that a server sends gets onto an error.
    const {
      code = "BAD_RESPONSE",
      details,
      message,
    } = failure || {};
    super(
      typeof message === "string"
        ? message
        : `Cannot call ${path}: ${code}${status ? " " + status : ""}`,
      { cause },
    );
    Object.assign(this, {
      path,
      name: "RPCClientError",
      details,
      code,
      status,
    });
  }
}
