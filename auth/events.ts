/**
 * Events of authentication, for an audit log and for `debug`. No event holds a
 * token, a cookie, a key, a code, a state or a session's id.
 *
 * @module
 */

import { clip, MAX_LOG_TEXT, redactText } from "../core/redact/redact.ts";
import { printable, printableError } from "../core/redact/printable.ts";

/** The reason why a request with credentials is anonymous. */
export type RejectionReason =
  /** Not a token or a cookie of this plugin, or signed by another secret. */
  | "malformed"
  /** It has expired. */
  | "expired"
  /** The store doesn't know it: signed out, revoked, or evicted. */
  | "revoked"
  /** `onSessionValidate` refused it. */
  | "refused"
  /** The request has several different cookies of the session's name. */
  | "ambiguous"
  /** The provider refused the key. */
  | "invalid_key";

/** The reason why a guard refuses a request. */
export type DenialReason = "anonymous" | "roles" | "cross_origin";

/** An event for `onEvent`. */
export type AuthEvent =
  & { readonly time: Date }
  & (
    | {
      readonly type: "sign_in";
      /** Absent if `signInAs()` was called without one. */
      readonly provider?: string;
      readonly userId: string;
    }
    | {
      readonly type: "sign_in_failed";
      /** Absent if `signInAs()` was called without one. */
      readonly provider?: string;
      readonly code: string;
      /** The reason, for the log only. */
      readonly reason?: string;
    }
    | { readonly type: "sign_out"; readonly userId: string }
    | { readonly type: "session_refreshed"; readonly userId: string }
    | { readonly type: "session_rejected"; readonly reason: RejectionReason }
    | {
      readonly type: "sessions_revoked";
      readonly userId: string;
      readonly count: number;
    }
    | { readonly type: "oauth_started"; readonly provider: string }
    | {
      readonly type: "access_denied";
      readonly userId?: string;
      readonly reason: DenialReason;
    }
    | { readonly type: "claim_ignored"; readonly name: string }
  );

type WithoutTime<E> = E extends unknown ? Omit<E, "time"> : never;

/** Reports something that happens now. */
export type Emit = (event: WithoutTime<AuthEvent>) => void;

/**
 * Creates the function that reports events to the application and, with
 * `debug`, to the console.
 *
 * @param options `now` is the clock, in milliseconds.
 */
export function createEmit(options: {
  readonly debug: boolean;
  readonly onEvent: ((event: AuthEvent) => unknown) | undefined;
  readonly now: () => number;
}): Emit {
  const { debug, onEvent, now } = options;
  if (!debug && onEvent === undefined) return () => {};
  return async (event) => {
    const { type, ...rest } = event;
    // A client's text must not control the terminal or look like a log line.
    if (debug) {
      const text = redactText(clip(JSON.stringify(rest), MAX_LOG_TEXT));
      console.log(`[auth] ${type} ${printable(text)}`);
    }
    try {
      await onEvent?.({ time: new Date(now()), ...event });
    } catch (error) {
      console.error(
        "onEvent of the auth plugin failed:",
        printableError(error),
      );
    }
  };
}
