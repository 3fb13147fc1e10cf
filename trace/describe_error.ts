/** What a span keeps of a thrown value. */
export interface ErrorDescription {
  /** The error's class, such as `TypeError`. */
  readonly type: string;
  /** Its message. */
  readonly message: string;
  /** Its stack trace, if it has one. */
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
        message: String(error.message),
        stack: typeof error.stack === "string" ? error.stack : undefined,
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
