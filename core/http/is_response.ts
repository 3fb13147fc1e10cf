/**
 * Whether a value is a `Response`. Servers of Node may put a class of their own
 * in place of the global, and then what `fetch()` and `Response.json()` give is
 * no instance of that. It also takes what throws when it is asked: anything may
 * have been thrown.
 */
export function isResponse(value: unknown): value is Response {
  try {
    return value instanceof Response ||
      Object(value)[Symbol.toStringTag] === "Response";
  } catch {
    return false;
  }
}
