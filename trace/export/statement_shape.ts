/**
 * Returns a statement with `?` in place of its literals, so that repeated
 * statements are equal. Parameters such as `$1` stay.
 *
 * @example
 * ```ts
 * import { statementShape } from "./statement_shape.ts";
 *
 * const shape = statementShape("SELECT * FROM user\nWHERE id = 7");
 * console.assert(shape === "SELECT * FROM user WHERE id = ?");
 * ```
 */
export function statementShape(statement: string): string {
  let shape = known.get(statement);
  if (shape === undefined) {
    // Enough for one trace, and a bound for many.
    if (known.size > 999) known.clear();
    known.set(statement, shape = findShape(statement));
  }
  return shape;
}

/** Shapes by statement. Statements repeat, and finding a shape is slow. */
const known = new Map<string, string>();

function findShape(statement: string): string {
  return statement
    .slice(0, 2000)
    .replaceAll(/'(?:[^']|'')*'|(?<![$?:@])\b\d+(?:\.\d+)?\b/g, "?")
    .replaceAll(/\s+/g, " ");
}
