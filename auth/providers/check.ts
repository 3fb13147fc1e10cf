import { checkOptions, type Rules } from "../../core/check/options.ts";
import { isObject } from "../../core/check/rules.ts";

/**
 * Returns the checked options of a provider with their defaults, as own
 * properties.
 *
 * @param operation The operation in error messages, such as `create GitHub
 * provider`.
 * @param name The options' name in error messages.
 * @throws {TypeError} If an option is wrong.
 */
export function readOptions<T extends object, D extends Partial<T>>(
  operation: string,
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
  checkOptions(given, rules, operation, name);
  return complete as T & D;
}
