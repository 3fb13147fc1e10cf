import { isObject, show } from "../../core/check/rules.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { createNetworkCounts } from "../../core/http/addresses.ts";
import { isThenable } from "../../core/promises.ts";
import type { AuthCore } from "../core.ts";
import { AuthError, invalidCredentials, SignInReason } from "../error.ts";
import type { SignInAttempt, SignInLimiter } from "../options.ts";
import type { AuthProvider } from "../provider.ts";
import type { User } from "../user.ts";
import { networkOfAddress, runFor } from "./client_network.ts";

/** Pending sign-ins per limiter and network. */
const pendingOf = new WeakMap<
  SignInLimiter,
  ReturnType<typeof createNetworkCounts>
>();

const FORM_FIX = "of a form, Object.fromEntries(await request.formData())";

/**
 * Asks a provider about credentials, within the limits.
 *
 * @throws {AuthError} `INVALID_CREDENTIALS` or `RATE_LIMITED`.
 * @throws {TypeError} If the credentials are an object that no client can send.
 */
export async function authorize(
  core: AuthCore,
  provider: AuthProvider,
  credentials: Record<string, unknown>,
  request: Request,
  info: ConnectionInfo | undefined,
): Promise<User> {
  const { signInLimiter, addressOf } = core;
  const kind = Object.prototype.toString.call(credentials).slice(8, -1);
  // Forms, lists and promises don't have the fields that they seem to have.
  if (kind !== "Object") {
    const fix = kind === "Promise" ? "await it" : FORM_FIX;
    const problem =
      `credentials must be a plain object, received ${kind}; ${fix}`;
    // JSON of a client can't be any other object. It gets no details.
    throw isObject(credentials)
      ? new TypeError(`Cannot sign in: ${problem}`)
      : invalidCredentials(new SignInReason(problem));
  }
  const attempt: SignInAttempt = {
    provider: provider.id,
    credentials,
    address: addressOf(request, info),
  };
  const network = networkOfAddress(attempt.address);
  const end = beginSignIn(signInLimiter, network);
  try {
    const checking = signInLimiter?.check(attempt);
    const retryAfter = isThenable(checking) ? await checking : checking;
    if (retryAfter !== undefined) throw tooMany(retryAfter);
    if (provider.type === "oauth") {
      // A mistake of the app, so the message explains it.
      const problem = `Provider ${show(provider.id)} signs in by getOAuthUrl()`;
      const cause = new SignInReason(problem);
      throw new AuthError("INVALID_CREDENTIALS", problem, { cause });
    }
    const user = await runFor(network, () => provider.authorize(credentials));
    // Untyped code may return `undefined` instead of `null`.
    if (user === null || user === undefined) throw invalidCredentials();
    await signInLimiter?.succeeded(attempt);
    return user;
  } finally {
    end();
  }
}

/**
 * Counts a sign-in as pending, and returns a function that ends it.
 *
 * @throws {AuthError} `RATE_LIMITED` if too many of the network are pending.
 */
function beginSignIn(
  limiter: SignInLimiter | undefined,
  network: string | undefined,
): () => void {
  if (limiter === undefined) return () => {};
  const pending = pendingOf.get(limiter) ?? createNetworkCounts();
  pendingOf.set(limiter, pending);
  const { maxPendingPerAddress = Infinity } = limiter;
  if (pending.get(network) >= maxPendingPerAddress) throw tooMany(1);
  return pending.add(network);
}

/** @param retryAfter Seconds until the next attempt. */
function tooMany(retryAfter: number): AuthError {
  return new AuthError(
    "RATE_LIMITED",
    "Too many attempts to sign in; try again later",
    { retryAfter },
  );
}
