import type { SignInLimiter } from "../options.ts";

/** How many sign-ins are pending, by limiter and network. */
const counts = new WeakMap<SignInLimiter, Map<string, number>>();

/**
 * Counts a sign-in as pending, unless too many of its network are.
 *
 * @returns Ends it; `undefined` if it is refused.
 */
export function beginSignIn(
  limiter: SignInLimiter,
  network: string,
): (() => void) | undefined {
  const { maxPendingPerAddress = Infinity } = limiter;
  let pending = counts.get(limiter);
  if (pending === undefined) counts.set(limiter, pending = new Map());
  const count = pending.get(network) ?? 0;
  if (count >= maxPendingPerAddress) return undefined;
  pending.set(network, count + 1);
  return () => {
    const left = pending.get(network)! - 1;
    // Networks without pending sign-ins take no memory.
    if (left === 0) pending.delete(network);
    else pending.set(network, left);
  };
}
