import type { Call } from "./call.ts";
import { CacheError } from "./error.ts";
import { withTimeout } from "./timing.ts";

/** What a computation gives, unless it takes longer than its call allows. */
export function withinTimeout(
  computed: Promise<unknown>,
  { key, policy: { timeout } }: Pick<Call, "key" | "policy">,
): Promise<unknown> {
  if (timeout === undefined) return computed;
  return withTimeout(computed, timeout, () =>
    new CacheError(
      "TIMEOUT",
      `Cannot compute ${
        JSON.stringify(key)
      }: it must be done within ${timeout} ms`,
    ));
}
