import { findProblem, type Rules } from "../../core/check/options.ts";
import { required, type Rule } from "../../core/check/rules.ts";
import { isObject } from "../../core/check/show.ts";

/** Creates the error for a wrong setting of a provider. */
export function providerError(label: string, problem: string): TypeError {
  return new TypeError(`Cannot create ${label} provider: ${problem}`);
}

/**
 * Returns the checked options of a provider with their defaults, as own
 * properties.
 *
 * @param label The provider's name in error messages, such as `GitHub`.
 * @param name The options' name in error messages.
 * @throws {TypeError} If an option is wrong.
 */
export function readOptions<T extends object, D extends Partial<T>>(
  label: string,
  options: T,
  rules: Rules,
  defaults: D,
  name = "options",
): T & D {
  const complete = { ...options } as Record<string, unknown>;
  for (const key of Object.keys(rules)) {
    // Read by name, because options may inherit some.
    const value = (options as typeof complete | undefined)?.[key];
    if (value !== undefined) complete[key] = value;
    else if (Object.hasOwn(defaults, key)) {
      complete[key] = defaults[key as keyof D];
    }
  }
  const given: unknown = isObject(options) ? complete : options;
  const problem = findProblem(given, rules, name);
  if (problem !== undefined) throw providerError(label, problem);
  return complete as T & D;
}

/**
 * Checks one value.
 *
 * @throws {TypeError} If it doesn't meet the rule.
 */
export function checkOption(
  label: string,
  name: string,
  value: unknown,
  rule: Rule,
): void {
  readOptions(label, { [name]: value }, { [name]: required(rule) }, {});
}
