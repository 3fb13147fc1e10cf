import { show } from "./show.ts";

/**
 * Checks what is going to be taken apart, such as the options of a function:
 * of `undefined` the engine would only say that it has no properties.
 *
 * @param name What it is called.
 * @param doing What can't be done with a wrong one, such as `create cache`.
 * @throws {TypeError} If it is not an object.
 */
export function checkObject(
  value: unknown,
  name: string,
  doing: string,
): asserts value is object {
  if (typeof value === "object" && value !== null) return;
  throw new TypeError(
    `Cannot ${doing}: ${name} must be an object, received ${show(value)}`,
  );
}
