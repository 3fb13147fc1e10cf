import { isA } from "../../core/check/rules.ts";
import type { ObservedSpan } from "../../core/observed_span.ts";
import { printable, printableError } from "../../core/redact/printable.ts";
import { redactMessage } from "../../core/redact/redact.ts";
import { isDevCommand } from "../../core/runtime/environment.ts";
import { UnavailableError } from "../../core/error_response.ts";
import { AuthError, SignInReason } from "../error.ts";
import type { Emit } from "../events.ts";

/**
 * Reports a failed sign-in to `onEvent`, to its span and, if the provider failed,
 * to the log.
 *
 * @param provider The requested provider's id, if any.
 * @param error The error of the sign-in.
 * @param span The span of the sign-in, if it is traced.
 */
export function reportFailure(
  emit: Emit,
  provider: string | undefined,
  error: unknown,
  span: ObservedSpan | undefined,
): void {
  span?.setAttribute("app.reason", explain(error));
  const { code, cause } =
    error instanceof AuthError || isA(error, UnavailableError)
      ? error
      : { code: "INTERNAL_ERROR", cause: undefined };
  // Other causes may contain secrets.
  const reason = cause instanceof SignInReason ? cause.message : undefined;
  emit({
    type: "sign_in_failed",
    ...(provider === undefined ? {} : { provider }),
    code,
    ...(reason === undefined ? {} : { reason }),
  });
  if (code === "OAUTH_FAILED") {
    // The response hides the reason, so it must be in the log.
    console.error(
      "Sign-in with provider %s failed:",
      provider,
      reason === undefined
        ? printableError(cause)
        : printable(redactMessage(reason)),
    );
  }
}

/**
 * Returns why a sign-in failed, for the trace. The text of the log is only part
 * of it under the dev command.
 */
function explain(error: unknown): string {
  if (!(error instanceof AuthError)) return "failed: an error was thrown";
  const { message, retryAfter, cause } = error;
  if (retryAfter !== undefined) {
    return `refused: too many attempts, the next is allowed in ${retryAfter} s`;
  }
  const isShown = cause instanceof SignInReason && isDevCommand();
  return `refused: ${isShown ? redactMessage(cause.message) : message}`;
}

/**
 * Logs the error of a sign-in that no response can carry: a missing `await`.
 * Otherwise a wrong password would end the process.
 *
 * @param pending Returns the promise of the sign-in.
 */
export function reportLateFailure(pending: () => Promise<unknown>): void {
  // The promise doesn't exist yet if the sign-in fails at once.
  queueMicrotask(() => {
    pending().catch((error) => {
      console.error(
        "A sign-in failed after the response was ready; await it in the handler:",
        printableError(error),
      );
    });
  });
}
