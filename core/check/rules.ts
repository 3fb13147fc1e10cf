/**
 * Rules for the values of options, to pass to `checkOptions()` by name, and short
 * texts of values for its errors.
 *
 * @module
 */

/**
 * The longest delay of a timer, in milliseconds: almost 25 days. A timer with a
 * longer delay fires after 1 ms (Node and Deno), or after the delay modulo 2^32
 * (browsers).
 */
export const MAX_DELAY = 2 ** 31 - 1;

/** A requirement of a value. */
export interface Rule {
  /** Its text in error messages, such as `a positive integer`. */
  readonly expected: string;
  /** Whether a value meets it. Options that are `undefined` aren't tested. */
  readonly test: (value: unknown) => boolean;
  /** Whether errors must not show the value. */
  readonly isSecret?: boolean;
  /** Whether the option must be given. */
  readonly isRequired?: boolean;
  /** Describes a wrong value in error messages. Default: `show()`. */
  readonly describe?: (value: unknown) => string;
}

/** Creates a rule. */
export function rule(
  expected: string,
  test: (value: unknown) => boolean,
): Rule {
  return { expected, test };
}

/** `true` or `false`. */
export const aBoolean: Rule = rule(
  "true or false",
  (value) => typeof value === "boolean",
);
/** Any function. */
export const aFunction: Rule = rule(
  "a function",
  (value) => typeof value === "function",
);
/** Any string. */
export const aString: Rule = rule(
  "a string",
  (value) => typeof value === "string",
);
/** A string with at least one character. */
export const aNonEmptyString: Rule = rule(
  "a non-empty string",
  (value) => typeof value === "string" && value !== "",
);
/** Returns a rule for a string that matches a pattern. */
export function matching(
  expected: string,
  pattern: RegExp,
  maxLength = Infinity,
): Rule {
  return rule(
    expected,
    (value) =>
      typeof value === "string" && value.length <= maxLength &&
      pattern.test(value),
  );
}

/** 1, 2, 3 and so on. */
export const aPositiveInteger: Rule = rule(
  "a positive integer",
  (value) => Number.isSafeInteger(value) && value as number > 0,
);
/** Returns a rule for an integer within bounds, both included. */
export function anIntegerBetween(least: number, most: number): Rule {
  return rule(
    `an integer from ${least} to ${most}`,
    (value) =>
      Number.isInteger(value) && value as number >= least &&
      value as number <= most,
  );
}

/** A positive integer, or no limit. */
export const aLimit: Rule = rule(
  "a positive integer or Infinity",
  (value) => value === Infinity || aPositiveInteger.test(value),
);
/** A finite number above 0. */
export const aPositiveNumber: Rule = rule(
  "a positive number",
  (value) => Number.isFinite(value) && value as number > 0,
);

/** Numbers except `NaN` and infinite ones. */
export const finiteNumbers: Rule = rule("finite numbers", Number.isFinite);

/** Returns a rule for a duration without a timer. */
export function aDuration(
  unit: "seconds" | "milliseconds",
  { zero = false, endless = false } = {},
): Rule {
  const least = zero ? ", 0 or more" : " above 0";
  return rule(
    `a number of ${unit}${least}${endless ? ", or Infinity" : ""}`,
    (value) =>
      typeof value === "number" && (value > 0 || zero && value === 0) &&
      (endless || value < Infinity),
  );
}

/** Returns a rule for the delay of a timer, which is limited. */
export function aTimeout(
  unit: "seconds" | "milliseconds",
  options: { readonly zero?: boolean; readonly endless?: boolean } = {},
): Rule {
  const most = Math.floor(MAX_DELAY / (unit === "seconds" ? 1_000 : 1));
  const { expected, test } = aDuration(unit, options);
  return rule(
    `${expected}, and at most ${most}, as long as a timer can wait`,
    (value) => test(value) && (value === Infinity || value as number <= most),
  );
}

/** Returns a rule for one of several strings. */
export function oneOf(...values: readonly string[]): Rule {
  return rule(
    `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`,
    (value) => values.includes(value as string),
  );
}

/** Returns a rule for an object or function with certain methods. */
export function withMethods(
  expected: string,
  ...methods: readonly string[]
): Rule {
  const missing = (value: unknown) =>
    methods.find((name) =>
      typeof (value as Record<string, unknown> | null)?.[name] !== "function"
    );
  return {
    expected,
    test: (value) => missing(value) === undefined,
    describe: (value) =>
      typeof value === "object" && value !== null
        ? `${show(value)} without a function ${missing(value)}`
        : show(value),
  };
}

/** A request. */
export const aRequest: Rule = withMethods("a Request", "clone");

/** A signal that can abort. */
export const anAbortSignal: Rule = withMethods(
  "an AbortSignal",
  "addEventListener",
);

/** Returns a rule for an array whose every element meets a rule. */
export function anArrayOf(expected: string, element: Rule): Rule {
  return rule(
    `an array of ${expected}`,
    // Not `every`, which skips the holes of a sparse array.
    (value) => Array.isArray(value) && Array.from(value).every(element.test),
  );
}

/** Returns a rule whose errors show the value's type instead of the value. */
export function secret(rule: Rule): Rule {
  return { ...rule, isSecret: true };
}

/** Returns a rule for an option that must be given. */
export function required(rule: Rule): Rule {
  return { ...rule, isRequired: true };
}

/** Describes a value that isn't secret. Long strings are cut. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 79)}…` : value);
  }
  const hasNoText = typeof value === "object" || typeof value === "function";
  return hasNoText ? kindOf(value) : String(value);
}

/** Describes the kind of a value without its content. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return `${value}`;
  if (Array.isArray(value)) return "an array";
  if (value instanceof Promise) return "a promise";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Whether a value is an object as in JSON, neither `null` nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is an origin such as `https://app.example`, without a path. */
export function isOrigin(value: unknown): boolean {
  return URL.parse(String(value))?.origin === value;
}

/** Like `instanceof`, but safe for a proxy that throws. */
export function isA<T>(
  value: unknown,
  type: abstract new (...args: never) => T,
): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}
