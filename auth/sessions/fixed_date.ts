/**
 * A `Date` that can't be changed, so that all requests of a session can have
 * the same one: to make two of them costs as much as to find the session.
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
// To whoever compares or prints it, it is a date like any other.
Object.defineProperty(FixedDate.prototype, "constructor", { value: Date });

/** A date that can't be changed, of so many seconds of the Unix epoch. */
export function fixedDate(seconds: number): Date {
  return new FixedDate(seconds * 1000);
}
