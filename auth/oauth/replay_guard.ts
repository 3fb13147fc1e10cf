import { GenerationMap } from "../../core/collections/generation_map.ts";

/** Maximum states that are remembered. */
const MAX_STATES = 100_000;

/**
 * Creates a replay guard: a function that returns whether a state is used for
 * the first time.
 *
 * An attacker who completes 50,000 sign-ins can make it forget a state early,
 * without a gain: providers accept each code once (RFC 6749, section 4.1.2).
 *
 * @param lifetime How long a state is remembered, in milliseconds.
 */
export function createReplayGuard(
  lifetime: number,
): (state: string, now: number) => boolean {
  const used = new GenerationMap<string, true>({
    maxSize: MAX_STATES,
    lifetime,
  });
  return (state, now) => {
    used.advance(now);
    if (used.peek(state) !== undefined) return false;
    used.set(state, true);
    return true;
  };
}
