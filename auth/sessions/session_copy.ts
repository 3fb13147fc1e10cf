import type { Session } from "../user.ts";
import { copyJSON } from "./json_copy.ts";

/** Returns a copy of a shared session, for one request. */
export function copySession(shared: Readonly<Session>): Session {
  const session = { ...shared };
  if (session.roles !== undefined) session.roles = session.roles.slice();
  if (session.claims !== undefined) {
    // One level above the one where `keep()` begins to count.
    session.claims = copyJSON(session.claims, "claims", -1) as object;
  }
  return session;
}

/**
 * A `Date` that can't be changed, so that all copies of a session share it.
 * Creating two dates costs as much as finding the session.
 */
class FixedDate extends Date {}

for (const name of Object.getOwnPropertyNames(Date.prototype)) {
  if (!name.startsWith("set")) continue;
  Object.defineProperty(FixedDate.prototype, name, {
    value(): never {
      throw new TypeError(
        `Cannot ${name} a session's date: make a copy with new Date(date)`,
      );
    },
  });
}
// Comparing and printing treat it like any other date.
Object.defineProperty(FixedDate.prototype, "constructor", { value: Date });

/** Returns a date that can't be changed, from seconds of the Unix epoch. */
export function fixedDate(seconds: number): Date {
  return new FixedDate(seconds * 1000);
}
