import type { ConnectionInfo } from "../../core/context.ts";
import type { AuthCore } from "../core.ts";
import { AuthError, invalidCredentials, SignInReason } from "../error.ts";
import type { SignInAttempt } from "../options.ts";
import type { AuthProvider } from "../provider.ts";
import { runFor } from "../password/caller.ts";
import type { BaseUser } from "../user.ts";
import { networkOfAddress } from "./network_of_address.ts";
import { beginSignIn } from "./pending_sign_ins.ts";

/**
 * Asks a provider about credentials, as often as the limit lets it.
 *
 * @throws {AuthError} `INVALID_CREDENTIALS` or `RATE_LIMITED`.
 */
export async function authorize<U extends BaseUser>(
  core: AuthCore<U>,
  provider: AuthProvider<U>,
  credentials: Record<string, unknown>,
  request: Request,
  info: ConnectionInfo | undefined,
): Promise<U> {
  if (!isRecord(credentials)) {
    throw refused(
      `credentials must be a plain object, received ${
        nameOf(credentials)
      }; of a form, Object.fromEntries(await request.formData())`,
    );
  }
  const { signInLimiter, addressOf } = core;
  const attempt: SignInAttempt = {
    provider: provider.id,
    credentials,
    address: addressOf(request, info),
  };
  const network = networkOfAddress(attempt.address);
  const end = signInLimiter === undefined || network === undefined
    ? () => {}
    : beginSignIn(signInLimiter, network);
  if (end === undefined) throw tooMany(1);
  try {
    const retryAfter = signInLimiter?.check(attempt);
    if (retryAfter !== undefined) throw tooMany(retryAfter);
    if (provider.type === "oauth") {
      throw refused(
        "this provider signs in by getOAuthUrl() and handleOAuthCallback()",
      );
    }
    const user = await runFor(network, () => provider.authorize(credentials));
    // Untyped code may return `undefined` instead of `null`.
    if (user === null || user === undefined) throw invalidCredentials();
    signInLimiter?.succeeded(attempt);
    return user;
  } finally {
    end();
  }
}

/** @param retryAfter Seconds until the next attempt. */
function tooMany(retryAfter: number): AuthError {
  return new AuthError(
    "RATE_LIMITED",
    "Too many attempts to sign in; try again later",
    { retryAfter },
  );
}

/** The reason is for the log: clients send credentials as they like. */
function refused(reason: string): AuthError {
  return invalidCredentials(new SignInReason(reason));
}

/** Forms, lists and promises have none of the fields that they seem to have. */
function isRecord(value: unknown): boolean {
  return Object.prototype.toString.call(value) === "[object Object]";
}

function nameOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
