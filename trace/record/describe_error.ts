import { stackText, thrownText } from "../../core/redact/error_text.ts";
import { redactMessage } from "../../core/redact/redact_message.ts";
import { MAX_VALUE_LENGTH } from "./limits.ts";

/** What a span keeps of a thrown value. */
export interface ErrorDescription {
  /** The error's class, such as `TypeError`. */
  readonly type: string;
  /** The message, cut to the length that a span stores. */
  readonly message: string;
  /** Its stack trace, if it has one, and those of what caused it. */
  readonly stack: string | undefined;
}

/**
 * Describes whatever was thrown. Anything can be thrown, also objects whose
 * properties throw, so this never does.
 */
export function describeError(error: unknown): ErrorDescription {
  try {
    if (error instanceof Error) {
      return {
        type: String(error.name || "Error"),
        message: redactMessage(String(error.message), MAX_TEXT),
        stack: stackOf(error),
      };
    }
    return {
      type: typeof error,
      message: thrownText(error, MAX_TEXT),
      stack: undefined,
    };
  } catch {
    return {
      type: typeof error,
      message: "(a thrown value that can't be described)",
      stack: undefined,
    };
  }
}

/** How many causes are followed; a ring of them has no end. */
const MAX_CAUSES = 5;
/** The length that a span stores, including the note about cut text. */
const MAX_TEXT = MAX_VALUE_LENGTH - 64;

function stackOf(error: Error): string | undefined {
  const stacks: string[] = [];
  let cause: unknown = error;
  while (cause instanceof Error && stacks.length <= MAX_CAUSES) {
    const stack = stackText(cause, MAX_TEXT);
    if (stack !== undefined) stacks.push(stack);
    cause = cause.cause;
  }
  if (cause !== undefined && !(cause instanceof Error)) {
    stacks.push(thrownText(cause, MAX_TEXT));
  }
  return stacks.length === 0 ? undefined : stacks.join("\nCaused by: ");
}
