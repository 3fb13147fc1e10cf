/**
 * Loaded before the examples of the documentation are run: there,
 * `console.assert` only prints what is wrong, and here it fails the example.
 *
 * @module
 */

console.assert = (condition?: boolean, ...data: unknown[]): void => {
  if (!condition) throw new Error(["Assertion failed", ...data].join(" "));
};
