// Why a sign-in has failed, in plain words.

import { AuthError } from "@quartet/kit/auth";

/** What to tell of it. */
export interface SignInProblem {
  readonly problem: string;
  readonly status: number;
}

/**
 * Explains why somebody could not be signed in.
 *
 * @throws What it can't explain: a fault of Atlas.
 */
export function explain(error: unknown): SignInProblem {
  if (!(error instanceof AuthError) || error.status === 500) throw error;
  const { code, status, message, retryAfter = 60 } = error;
  switch (code) {
    case "INVALID_CREDENTIALS":
      return { problem: "The e-mail address or the password is wrong", status };
    case "RATE_LIMITED": {
      const minutes = Math.ceil(retryAfter / 60);
      const time = minutes === 1 ? "a minute" : `${minutes} minutes`;
      return { problem: `Too many attempts. Try again in ${time}`, status };
    }
    case "OAUTH_FAILED":
      return { problem: "Hillside does not work at the moment", status };
    default:
      // It is made to be read.
      return { problem: message, status };
  }
}
