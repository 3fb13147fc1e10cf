import type { RPCFailure } from "../error.ts";

/**
 * The codes of the client itself:
 *
 * - `NETWORK_ERROR`: no response arrived.
 * - `BAD_RESPONSE`: the response isn't a router's, such as an HTML page.
 * - `CONNECTION_LOST`: the socket can't be opened again.
 * - `INVALID_INPUT`: the input of a subscription can't be encoded.
 */
export type RPCClientErrorCode =
  | "NETWORK_ERROR"
  | "BAD_RESPONSE"
  | "CONNECTION_LOST"
  | "INVALID_INPUT";

/**
 * The error of a failed call or subscription.
 *
 * If the server answered, `code`, `message`, `status` and `details` are the
 * server's. Otherwise `code` is an {@linkcode RPCClientErrorCode}, the message
 * names the procedure and the URL, and `cause` is the original error, if any.
 */
export class RPCClientError extends Error {
  // Declared here and assigned together, because fields would double the code
  // size.
  /** Always `RPCClientError`. */
  declare readonly name: "RPCClientError";
  /** A stable name for programs, in capitals. */
  declare readonly code: string;
  /** The HTTP status, or 0 without a response or on a socket. */
  declare readonly status: number;
  /** The procedure's dotted path. */
  declare readonly path: string;
  /** The client's `httpEndpoint` without credentials and query. */
  declare readonly url: string;
  /** Details from the server, such as the issues of invalid input. */
  declare readonly details: unknown;

  /**
   * Creates an error from the server's failure or the client's own.
   *
   * @param failure The failure. Default code: `BAD_RESPONSE`, or
   * `NETWORK_ERROR` without a status.
   * @param status The HTTP status, or 0.
   * @param path The procedure's dotted path.
   * @param url The endpoint without credentials and query.
   * @param cause The original error.
   */
  constructor(
    failure: Partial<RPCFailure> | false | null | undefined,
    status: number,
    path: string,
    url: string,
    cause?: unknown,
  ) {
    // Other fields from the server don't get onto the error.
    const {
      message,
      details,
      code = status ? "BAD_RESPONSE" : "NETWORK_ERROR",
    } = failure || {};
    super(
      typeof message === "string"
        ? message
        : `Cannot call ${path} at ${url}: ${
          status
            ? status + ", check httpEndpoint"
            : url > "a" || globalThis.location
            ? code
            : code + ", httpEndpoint must be absolute"
        }`,
      { cause },
    );
    Object.assign(this, {
      path,
      status,
      name: "RPCClientError",
      url,
      details,
      code,
    });
  }
}
