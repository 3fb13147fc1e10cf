/**
 * What happens in authentication, for an audit log and for `debug`. No event
 * holds a token, a cookie, a key, a code, a state or a session's id.
 *
 * @module
 */

/** Why a request that shows credentials is anonymous all the same. */
export type RejectionReason =
  /** Not a token or a cookie of ours, or signed by another secret. */
  | "malformed"
  /** It was valid once. */
  | "expired"
  /** The store doesn't know it: signed out, revoked, or evicted. */
  | "revoked"
  /** `onSessionValidate` said no. */
  | "refused"
  /** The request has several different cookies of the session's name. */
  | "ambiguous"
  /** The provider says that the key is not valid. */
  | "invalid_key";

/** Something that happened, told to `onEvent`. */
export type AuthEvent = { readonly time: Date } & AuthOccurrence;

/** What can happen. */
export type AuthOccurrence =
  | {
    readonly type: "sign_in";
    readonly provider: string;
    readonly userId: string;
  }
  | {
    readonly type: "sign_in_failed";
    readonly provider: string;
    readonly code: string;
    /** What the log should know and the client not. */
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
    readonly reason: "anonymous" | "roles" | "cross_origin";
  }
  | {
    readonly type: "claim_ignored";
    readonly name: string;
  };
