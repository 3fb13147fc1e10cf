import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import { aNonEmptyString, aTimeout } from "../../core/check/rules.ts";
import { pause } from "../../core/promises.ts";
import { isProduction } from "../../core/runtime/environment.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, Session, User } from "../user.ts";

/** The options of {@linkcode mock}. */
export interface MockOptions<U extends BaseUser = User> {
  /**
   * The user who signs in. Default: the user of `session`. Without one, a user
   * `mock` with the name `Mock User`, the address `mock@example.com` and no roles.
   */
  readonly user?: U;
  /**
   * A session whose user signs in: its `userId`, `email`, `name`, `roles` and
   * `claims`, but not its times and ids. Fields of `user` come first.
   */
  readonly session?: Session<U>;
  /** The time that a sign-in takes, in milliseconds. Default: 0. */
  readonly delay?: number;
}

const OPTIONS: OptionRules<MockOptions> = {
  user: true,
  session: true,
  delay: aTimeout("milliseconds", { zero: true }),
};
const OPERATION = "create mock provider";

/**
 * Creates a provider that signs everybody in as the same user, for tests and
 * development. It can't be created in production.
 *
 * @param options The user, and how long a sign-in takes.
 * @throws {TypeError} In production, or if an option is wrong.
 *
 * @example
 * ```ts
 * import { mock } from "@quartet/kit/auth";
 *
 * const provider = mock({ user: { id: "1", name: "Ada", roles: ["admin"] } });
 * const user = await provider.authorize({});
 * console.assert(user?.name === "Ada");
 * ```
 */
export function mock<U extends BaseUser = User>(
  options: MockOptions<U> = {},
): AuthProvider<U, "mock"> {
  if (isProduction()) {
    throw new TypeError(
      `Cannot ${OPERATION}: it signs everybody in, and this is production (an environment that can't be read counts as production)`,
    );
  }
  checkOptions(options, OPTIONS, OPERATION);
  const { user, session, delay = 0 } = options;
  if (user !== undefined) {
    checkValue(user?.id, "user.id", aNonEmptyString, OPERATION);
  }
  if (session !== undefined) {
    checkValue(session?.userId, "session.userId", aNonEmptyString, OPERATION);
  }
  const found = {
    ...(session === undefined ? user ?? MOCK_USER : userOf(session)),
    ...user,
  } as U;
  return {
    id: "mock",
    name: "Mock",
    type: "credentials",
    async authorize() {
      if (delay > 0) await pause(delay);
      // A copy for each sign-in, so that tests don't share one.
      return { ...found };
    },
  };
}

const MOCK_USER: User = {
  id: "mock",
  name: "Mock User",
  email: "mock@example.com",
  roles: [],
};

function userOf<U extends BaseUser>(session: Session<U>): User {
  const { userId, email, name, roles, claims } = session;
  return { ...claims, id: userId, email, name, roles };
}
