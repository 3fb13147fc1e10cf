import type { SignInLimiter } from "../options.ts";

/** Pending sign-ins per limiter and network. */
const counts = new WeakMap<SignInLimiter, Map<string, number>>();

/**
 * Counts a sign-in as pending, unless its network has too many.
 *
 * @returns A function that ends the sign-in, or `undefined` if it is refused.
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
