import { withoutSource } from "../app/internal/printable.ts";

/** What a span keeps of a thrown value. */
export interface ErrorDescription {
  /** The error's class, such as `TypeError`. */
  readonly type: string;
  /** Its message. */
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
        message: withoutSource(String(error.message)),
        stack: stackOf(error),
      };
    }
    return { type: typeof error, message: String(error), stack: undefined };
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

function stackOf(error: Error): string | undefined {
  const stacks: string[] = [];
  let cause: unknown = error;
  while (cause instanceof Error && stacks.length <= MAX_CAUSES) {
    if (typeof cause.stack === "string") {
      stacks.push(withoutSource(cause.stack));
    }
    cause = cause.cause;
  }
  if (cause !== undefined && !(cause instanceof Error)) {
    stacks.push(String(cause));
  }
  return stacks.length === 0 ? undefined : stacks.join("\nCaused by: ");
}
