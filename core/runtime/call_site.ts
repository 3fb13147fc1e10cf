/**
 * Finds the line of user code that calls the kit. Only the dev command can do so,
 * as finding it takes longer than most calls. The hook is global, because the
 * command and the app may load different copies of the package.
 *
 * @module
 */

import type { Attributes } from "../observed_span.ts";

const KEY = Symbol.for("@quartet/kit/call-site");
const hooks = globalThis as {
  [KEY]?: (() => Attributes | undefined) | undefined;
};

let definitions: WeakMap<object, Attributes> | undefined;

/**
 * Sets the function that finds the calling line, or removes it.
 *
 * @param find Returns `code.file.path` and `code.line.number`, if it finds them.
 */
export function findCallSites(
  find: (() => Attributes | undefined) | undefined,
) {
  hooks[KEY] = find;
}

/** Notes that the calling line defines `value`, such as a procedure's handler. */
export function noteDefinition(value: object): void {
  const site = hooks[KEY]?.();
  if (site !== undefined) (definitions ??= new WeakMap()).set(value, site);
}

/** Returns the line that defines `value`, as attributes of a span. */
export function definitionOf(value: object): Attributes | undefined {
  return definitions?.get(value);
}
