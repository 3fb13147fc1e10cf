// Messages for failed sign-ins.

import { AuthError } from "@quartet/kit/auth";

/** The message and the status of the page that shows it. */
export interface SignInProblem {
  readonly problem: string;
  readonly status: number;
}

/**
 * Returns the message for an error of a sign-in.
 *
 * @throws The error itself, if it's a fault of Atlas.
 */
export function explain(error: unknown): SignInProblem {
  if (!(error instanceof AuthError) || error.code === "UNKNOWN_PROVIDER") {
    throw error;
  }
  const { code, status, message, retryAfter = 60 } = error;
  switch (code) {
    case "INVALID_CREDENTIALS":
      return { problem: "The e-mail address or password is wrong", status };
    case "RATE_LIMITED": {
      const minutes = Math.ceil(retryAfter / 60);
      const time = minutes === 1 ? "a minute" : `${minutes} minutes`;
      return { problem: `Too many attempts. Try again in ${time}`, status };
    }
    case "OAUTH_FAILED":
      return { problem: "Hillside isn't available at the moment", status };
    default:
      // These messages are written for users.
      return { problem: message, status };
  }
}
