import type { ConnectionInfo } from "../app/context.ts";
import type { AuthSettings, SignInLimiter } from "./options.ts";
import type { AuthCallbacks } from "./options.ts";
import type { Emit } from "./events.ts";
import type { OAuthFlow } from "./oauth/flow.ts";
import type { AuthProvider } from "./provider.ts";
import type { Identity } from "./identify.ts";
import type { Sessions } from "./sessions.ts";
import type { BaseUser } from "./user.ts";

/** What all requests share: the parts that a plugin is put together from. */
export interface AuthCore<U extends BaseUser> {
  readonly settings: AuthSettings;
  readonly sessions: Sessions<U>;
  readonly providers: ReadonlyMap<string, AuthProvider<U>>;
  /** Those of them that may know a request by what it carries. */
  readonly requestProviders: readonly AuthProvider<U>[];
  readonly callbacks: AuthCallbacks<U>;
  readonly flow: OAuthFlow;
  readonly emit: Emit;
  readonly signInLimiter: SignInLimiter | undefined;
  /** The address of who has sent a request, if that is known. */
  readonly addressOf: (
    request: Request,
    info: ConnectionInfo | undefined,
  ) => string | undefined;
  readonly trustedOrigins: ReadonlySet<string>;
  /** Lets the `session` callback build what handlers see. */
  describe(identity: Identity<U>): Identity<U> | Promise<Identity<U>>;
}
