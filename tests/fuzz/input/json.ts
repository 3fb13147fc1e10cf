/**
 * JSON of any shape, with hostile names.
 *
 * @module
 */

import * as fc from "fast-check";

export type JSONValue =
  | null
  | boolean
  | number
  | string
  | JSONValue[]
  | { [name: string]: JSONValue };

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "then",
  "toJSON",
  "length",
  "0",
  "",
];

const name = fc.oneof(
  fc.constantFrom(...NAMES),
  fc.string({ unit: "binary", maxLength: 8 }),
);

const { value } = fc.letrec<{ value: JSONValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: "binary" })),
    fc.array(tie("value"), { maxLength: 5 }),
    // Unlike assignment, this treats `__proto__` as an ordinary name.
    fc.array(fc.tuple(name, tie("value")), { maxLength: 5 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

/** A value of any shape. */
export const anyJSON: fc.Arbitrary<JSONValue> = value;

/** Mostly one of the given values, otherwise any value. */
export function mostly<T extends JSONValue>(
  ...likely: fc.Arbitrary<T>[]
): fc.Arbitrary<JSONValue> {
  return fc.oneof(
    ...likely.map((arbitrary) => ({ arbitrary, weight: 12 })),
    { arbitrary: anyJSON, weight: 1 },
  );
}

/** An object with these fields. Sometimes fields are missing or added. */
export function objectOf(
  fields: Record<string, fc.Arbitrary<JSONValue>>,
): fc.Arbitrary<JSONValue> {
  const names = Object.keys(fields);
  return fc.tuple(
    fc.record(fields),
    rarely(fc.subarray(names)),
    rarely(fc.array(fc.tuple(name, anyJSON), { maxLength: 2 })),
  ).map(([known, missing, others]) =>
    Object.fromEntries([
      ...others,
      ...Object.entries(known).filter(([name]) => !missing.includes(name)),
    ])
  );
}

/** A list that is mostly empty. */
export function rarely<T>(list: fc.Arbitrary<T[]>): fc.Arbitrary<T[]> {
  return fc.oneof(
    { arbitrary: fc.constant<T[]>([]), weight: 5 },
    { arbitrary: list, weight: 1 },
  );
}
