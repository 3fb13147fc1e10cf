import type { OptionRules } from "../../core/check/check_options.ts";
import { isProduction } from "../../core/runtime/environment.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, Session, User } from "../user.ts";
import { checkNames, createCheck, isText, providerError } from "./check.ts";

/** What can be waited for with a timer, in milliseconds. */
const MAX_DELAY = 2 ** 31 - 1;

/** The options of {@linkcode mock}. */
export interface MockOptions<U extends BaseUser = User> {
  /**
   * Who signs in. Default: the user of `session`; without one, a user `mock`
   * with the name `Mock User`, the address `mock@example.com` and no roles.
   */
  readonly user?: U;
  /**
   * A session whose user signs in: its `userId`, `email`, `name`, `roles` and
   * `claims`. Its times and ids are made anew. What `user` has comes first.
   */
  readonly session?: Session<U>;
  /** How long it takes, to see loading states, in milliseconds. Default 0. */
  readonly delay?: number;
}

const OPTIONS: OptionRules<MockOptions> = {
  user: true,
  session: true,
  delay: true,
};

/**
 * Makes a provider that lets everybody in as the same user, for tests and for
 * work on a page. In production it refuses to exist.
 *
 * @param options Who that is.
 * @throws {AuthError} `CONFIG` in production, or if an option is wrong.
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
): AuthProvider<U> {
  if (isProduction()) {
    throw providerError(
      "mock",
      "it lets everybody in, and this is production (or an environment that can't be read, which counts as such)",
    );
  }
  checkNames("mock", options, OPTIONS);
  const { user, session, delay = 0 } = options;
  const check = createCheck("mock");
  check(
    user === undefined || isText(user?.id),
    "user.id",
    "a non-empty string",
    user?.id,
  );
  check(
    session === undefined || isText(session?.userId),
    "session.userId",
    "a non-empty string",
    session?.userId,
  );
  check(
    typeof delay === "number" && delay >= 0 && delay <= MAX_DELAY,
    "delay",
    "a number of milliseconds that is not negative",
    delay,
  );
  const found = {
    ...(session === undefined ? user ?? MOCK_USER : userOf(session)),
    ...user,
  } as U;
  return {
    id: "mock",
    name: "Mock",
    type: "credentials",
    async authorize() {
      if (delay > 0) await new Promise((done) => setTimeout(done, delay));
      // One for each sign-in, so that no test changes that of another.
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
