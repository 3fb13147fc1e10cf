/** Maximum levels of objects and arrays. */
const MAX_DEPTH = 3;
/** Maximum keys of an object. */
const MAX_KEYS = 12;
/** Maximum characters of a shape. */
const MAX_LENGTH = 200;
/** Keys of a record may be data, such as e-mail addresses. */
const NAME = /^[a-z_$][\w$]{0,31}$/i;

/**
 * Describes the input of a call without its values, such as
 * `{ room: string, limit: number }`.
 */
export function shapeOf(input: unknown): string {
  const shape = shapeAt(input, MAX_DEPTH);
  return shape.length <= MAX_LENGTH
    ? shape
    : `${shape.slice(0, MAX_LENGTH - 1)}…`;
}

function shapeAt(value: unknown, depth: number): string {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return depth === 0 ? "[…]" : `${shapeAt(value[0], depth - 1)}[]`;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    // Such as `[object Date]`, of a transformer.
    return Object.prototype.toString.call(value).slice(8, -1);
  }
  const keys = Object.keys(value);
  if (keys.length === 0) return "{}";
  if (depth === 0) return "{ … }";
  const fields: string[] = [];
  for (const key of keys) {
    if (fields.length === MAX_KEYS || !NAME.test(key)) {
      fields.push("…");
      break;
    }
    const field = (value as Record<string, unknown>)[key];
    fields.push(`${key}: ${shapeAt(field, depth - 1)}`);
  }
  return `{ ${fields.join(", ")} }`;
}
