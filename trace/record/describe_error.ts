import {
  aggregateText,
  stackText,
  textWithCauses,
  thrownText,
} from "../../core/redact/error_text.ts";
import { redactMessage } from "../../core/redact/redact_message.ts";
import { MAX_TEXT } from "./limits.ts";

/**
 * Describes any thrown value: its class, such as `TypeError`, its message, and
 * its stack with those of its causes and inner errors. It never throws, even if
 * the value's properties do.
 */
export function describeError(error: unknown) {
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
