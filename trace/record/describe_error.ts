import {
  aggregateText,
  stackText,
  textWithCauses,
  thrownText,
} from "../../core/redact/error_text.ts";
import { redactMessage } from "../../core/redact/redact_message.ts";
import { MAX_TEXT } from "./limits.ts";

/** The description of a thrown value on a span. */
export interface ErrorDescription {
  /** The error's class, such as `TypeError`. */
  readonly type: string;
  /** The message, cut to the length that a span stores. */
  readonly message: string;
  /** Its stack trace, if it has one, and those of its causes and its errors. */
  readonly stack: string | undefined;
}

/**
 * Describes any thrown value. It never throws, even if the value's properties
 * do.
 */
export function describeError(error: unknown): ErrorDescription {
  const type = typeof error;
  const ownStack = (error: Error) => stackText(error, MAX_TEXT);
  const stackOf = (error: Error) =>
    ownStack(error)?.concat(aggregateText(error, ownStack));
  try {
    if (!(error instanceof Error)) {
      return { type, message: thrownText(error, MAX_TEXT), stack: undefined };
    }
    return {
      type: String(error.name || "Error"),
      message: redactMessage(String(error.message), MAX_TEXT),
      stack: textWithCauses(error, stackOf, MAX_TEXT) || undefined,
    };
  } catch {
    const message = "(a thrown value that can't be described)";
    return { type, message, stack: undefined };
  }
}
