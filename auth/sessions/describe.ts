import { kindOf } from "../../core/check/show.ts";
import type { AuthCallbacks } from "../options.ts";
import type { BaseUser, Session } from "../user.ts";
import { checkSession, sessionOf } from "./claims.ts";
import type { ProvedSession } from "./session_proofs.ts";

/** A session that a request has. */
export interface Identity<U extends BaseUser> extends ProvedSession {
  /** What handlers get to see, if it isn't simply that of the payload. */
  readonly session?: Session<U>;
  /**
   * Whether browsers send the credentials by themselves, if these come from the
   * request rather than a session. Default: `true`.
   */
  readonly isSentByBrowsers?: boolean;
}

/** Builds the session that handlers see. */
export type Describer<U extends BaseUser> = (
  identity: Identity<U>,
) => Identity<U> | Promise<Identity<U>>;

/** Makes the {@linkcode Describer} of the `session` callback. */
export function createDescriber<U extends BaseUser>(
  callbacks: AuthCallbacks<U>,
): Describer<U> {
  const { session: build } = callbacks;
  if (build === undefined) return (identity) => identity;
  return async (identity) => {
    const { payload, template } = identity;
    const session = await build({
      token: structuredClone(payload),
      session: identity.session ?? sessionOf<U>(template),
    });
    if (typeof session !== "object" || session === null) {
      throw new TypeError(
        `Cannot read session: the session callback must return one, received ${
          kindOf(session)
        }`,
      );
    }
    // A string of roles would otherwise be roles of one letter each.
    checkSession(session);
    return { ...identity, session };
  };
}
