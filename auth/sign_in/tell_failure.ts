import { printable, printableError } from "../../core/redact/printable.ts";
import { redactMessage } from "../../core/redact/redact_message.ts";
import { AuthError, SignInReason } from "../error.ts";
import type { Emit } from "../events.ts";

/**
 * Tells the log why somebody was not signed in.
 *
 * @param provider The id that was asked for.
 * @param error What was thrown.
 */
export function tellFailure(
  emit: Emit,
  provider: string,
  error: unknown,
): void {
  const { code, cause } = error instanceof AuthError
    ? error
    : { code: "INTERNAL_ERROR", cause: undefined };
  // What a provider or a callback of others throws may hold anything.
  const reason = cause instanceof SignInReason ? cause.message : undefined;
  emit({
    type: "sign_in_failed",
    provider,
    code,
    ...(reason === undefined ? {} : { reason }),
  });
  if (code === "OAUTH_FAILED") {
    // The answer doesn't say why, so without this line nobody would know.
    console.error(
      "Sign-in with provider %s failed:",
      provider,
      reason === undefined
        ? printableError(cause)
        : printable(redactMessage(reason)),
    );
  }
}
