import { errorResponse, markClientError } from "../core/error_response.ts";
import { Context } from "../core/context.ts";
import { currentScope } from "../core/request_scope.ts";
import { errorPage } from "./error_page.ts";

/** The code of an {@linkcode AuthError}. */
export type AuthErrorCode =
  | "UNKNOWN_PROVIDER"
  | "INVALID_CREDENTIALS"
  | "OAUTH_STATE_MISMATCH"
  | "OAUTH_FAILED"
  | "RATE_LIMITED";

const STATUS: Readonly<Record<AuthErrorCode, AuthError["status"]>> = {
  UNKNOWN_PROVIDER: 400,
  INVALID_CREDENTIALS: 401,
  OAUTH_STATE_MISMATCH: 400,
  OAUTH_FAILED: 502,
  RATE_LIMITED: 429,
};

/**
 * A failed sign-in. Wrong settings throw a `TypeError` instead.
 *
 * - `UNKNOWN_PROVIDER` (400): No provider has this id, or it has no OAuth sign-in.
 * - `INVALID_CREDENTIALS` (401): The provider refused the credentials.
 * - `OAUTH_STATE_MISMATCH` (400): This browser didn't begin the sign-in, or not
 *   recently.
 * - `OAUTH_FAILED` (502): The OAuth provider failed, or its answer is invalid.
 * - `RATE_LIMITED` (429): Too many attempts failed.
 *
 * The message is safe to send to the client, the cause isn't. Handlers don't
 * have to catch it: the plugin answers with its status, in JSON, or with a small
 * HTML page if `Accept` prefers HTML. Callers of a procedure get its code, message
 * and status.
 *
 * @example
 * ```ts
 * import { AuthError } from "@quartet/kit/auth";
 *
 * const error = new AuthError("INVALID_CREDENTIALS", "Wrong e-mail or password");
 * console.assert(error.status === 401);
 * ```
 */
export class AuthError extends Error {
  /** Always `AuthError`. */
  override readonly name = "AuthError";
  /** A stable name for programs. */
  readonly code: AuthErrorCode;
  /** The HTTP status that goes with the code. */
  readonly status: 400 | 401 | 429 | 502;
  /** In how many seconds another attempt may succeed, if that is known. */
  readonly retryAfter: number | undefined;
  /**
   * The same as `toResponse`, under the name that Hono looks for. Otherwise
   * Hono would log each wrong password.
   */
  declare readonly getResponse: () => Response;

  /**
   * Creates an error.
   *
   * @param code A stable name for programs.
   * @param message One sentence that the client may read.
   * @param options `cause` is for the log. `retryAfter` is the time after which
   * another attempt may succeed, in seconds.
   */
  constructor(
    code: AuthErrorCode,
    message: string,
    options: ErrorOptions & { readonly retryAfter?: number } = {},
  ) {
    super(message, options);
    this.code = code;
    this.status = STATUS[code];
    this.retryAfter = options.retryAfter;
    markClientError(this);
  }

  /**
   * Returns the response to the failed request: JSON, or a small HTML page if
   * `Accept` prefers HTML, as with a form.
   *
   * @param request The request. Default: the one that is being handled.
   */
  toResponse(request: Request | undefined = currentRequest()): Response {
    return failedSignIn(this, request);
  }
}

/**
 * Returns the response to a failed sign-in.
 *
 * @param back The path that an HTML page links to. Default: the form's page.
 */
export function failedSignIn(
  { code, status, message, retryAfter }: AuthError,
  request: Request | undefined,
  back?: string,
): Response {
  const headers: Record<string, string> = retryAfter === undefined
    ? {}
    : { "retry-after": String(Math.max(1, Math.ceil(retryAfter))) };
  return (request && errorPage(request, status, message, headers, back)) ??
    errorResponse(status, code, message, headers);
}

function currentRequest(): Request | undefined {
  const context = currentScope()?.context;
  return context instanceof Context ? context.request : undefined;
}

/**
 * The reason for a failed sign-in, for the log. Its text is the kit's own and
 * holds no secret, unlike errors of other code.
 */
export class SignInReason extends Error {}

/** The operation in the errors of wrong settings. */
export const OPERATION = "create auth plugin";

/** Returns the error for a wrong setting of the plugin. */
export function configError(problem: string): TypeError {
  return new TypeError(`Cannot ${OPERATION}: ${problem}`);
}

/** Returns the error for wrong credentials. Its message has no details. */
export function invalidCredentials(cause?: SignInReason): AuthError {
  return new AuthError(
    "INVALID_CREDENTIALS",
    "Invalid credentials",
    cause === undefined ? {} : { cause },
  );
}
