import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import { oneOf, rule } from "../../core/check/rules.ts";
import type { SignInAsOptions } from "../auth_context.ts";
import type { AuthProvider } from "../provider.ts";
import { checkUser } from "../sessions/session_user.ts";
import type { User } from "../user.ts";

const OPERATION = "sign in";
const aUser = rule(
  "an object with an id",
  (value) => typeof value === "object" && value !== null,
);

/**
 * Checks the arguments of `signInAs()`.
 *
 * @throws {TypeError} If one is wrong.
 */
export function checkSignInAs(
  user: User,
  options: SignInAsOptions,
  providers: ReadonlyMap<string, AuthProvider>,
): void {
  checkValue(user, "user", aUser, OPERATION);
  checkUser(user, "id", "of the user passed to signInAs()");
  const rules: OptionRules<SignInAsOptions> = {
    provider: providers.size === 0
      ? rule("absent, as the plugin has no providers", () => false)
      : oneOf(...providers.keys()),
  };
  checkOptions(options, rules, OPERATION);
}
