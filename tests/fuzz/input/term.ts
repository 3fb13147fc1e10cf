/**
 * Arguments of functions in a form that can be built twice, the second time in
 * reverse order.
 *
 * @module
 */

import * as fc from "fast-check";

export type Term =
  | { readonly kind: "leaf"; readonly value: unknown }
  | { readonly kind: "date"; readonly value: number }
  | {
    readonly kind: "bytes";
    readonly type: "Uint8Array" | "Int8Array" | "Uint16Array" | "ArrayBuffer";
    readonly bytes: readonly number[];
  }
  | { readonly kind: "array" | "set"; readonly items: readonly Term[] }
  /** An array with a hole at its end. */
  | { readonly kind: "holes"; readonly items: readonly Term[] }
  | {
    readonly kind: "object";
    readonly entries: readonly (readonly [string, Term])[];
  }
  | {
    readonly kind: "map";
    readonly entries: readonly (readonly [Term, Term])[];
  }
  /** A reference to the object this many levels further out. */
  | { readonly kind: "out"; readonly steps: number };

/** Few values, so that equal and similar ones are frequent. */
const LEAVES: readonly unknown[] = [
  undefined,
  null,
  true,
  "true",
  0,
  -0,
  1,
  1n,
  "1",
  "1n",
  NaN,
  "NaN",
  Infinity,
  -Infinity,
  10 ** 21,
  10n ** 21n,
  "",
  "u",
  "h1",
  "@1",
  "D0",
  '"',
  "\\",
  ",",
  "]",
  "\ud800",
  "\udc00",
  "\ufffd",
  "\u2028",
  "é",
  "e\u0301",
  "__proto__",
];

const NAMES = ["a", "b", "", "0", "10", "__proto__", "constructor", "é", '"'];

const leaf = fc.oneof(
  { arbitrary: fc.constantFrom(...LEAVES), weight: 6 },
  {
    arbitrary: fc.oneof(
      fc.double(),
      fc.bigInt(),
      fc.string({ unit: "binary" }),
    ),
    weight: 1,
  },
);

const { term } = fc.letrec<{ term: Term; name: string }>((tie) => ({
  name: fc.oneof(
    { arbitrary: fc.constantFrom(...NAMES), weight: 4 },
    { arbitrary: fc.string({ unit: "binary", maxLength: 3 }), weight: 1 },
  ),
  term: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    leaf.map((value): Term => ({ kind: "leaf", value })),
    fc.constantFrom(0, 1, 1e12, -1).map((value): Term => ({
      kind: "date",
      value,
    })),
    fc.record({
      kind: fc.constant("bytes"),
      type: fc.constantFrom(
        "Uint8Array",
        "Int8Array",
        "Uint16Array",
        "ArrayBuffer",
      ),
      bytes: fc.array(fc.nat(255), { maxLength: 2 }),
    }) as fc.Arbitrary<Term>,
    fc.nat(2).map((steps): Term => ({ kind: "out", steps })),
    fc.record({
      kind: fc.constantFrom("array", "set", "holes"),
      items: fc.array(tie("term"), { maxLength: 3 }),
    }) as fc.Arbitrary<Term>,
    fc.record({
      kind: fc.constant("object"),
      entries: fc.uniqueArray(fc.tuple(tie("name"), tie("term")), {
        maxLength: 3,
        selector: ([name]) => name,
      }),
    }) as fc.Arbitrary<Term>,
    fc.record({
      kind: fc.constant("map"),
      entries: fc.array(fc.tuple(tie("term"), tie("term")), { maxLength: 3 }),
    }) as fc.Arbitrary<Term>,
  ),
}));

export const anyTerm: fc.Arbitrary<Term> = term;

/**
 * Builds a value.
 *
 * @param isTurned Whether unordered properties, entries and items are reversed.
 */
export function build(term: Term, isTurned = false): unknown {
  return buildIn(term, isTurned, []);
}

function buildIn(
  term: Term,
  isTurned: boolean,
  around: readonly object[],
): unknown {
  const inside = <T extends object>(
    value: T,
    fill: (outer: object[]) => void,
  ) => {
    fill([value, ...around]);
    return value;
  };
  const turn = <T>(list: readonly T[]) => isTurned ? list.toReversed() : list;
  switch (term.kind) {
    case "leaf":
      return term.value;
    case "date":
      return new Date(term.value);
    case "bytes":
      return bytesOf(term);
    case "out":
      return around[term.steps] ?? null;
    case "array":
    case "holes": {
      const array: unknown[] = [];
      return inside(array, (outer) => {
        for (const item of term.items) {
          array.push(buildIn(item, isTurned, outer));
        }
        if (term.kind === "holes") array.length++;
      });
    }
    case "set": {
      const set = new Set();
      return inside(set, (outer) => {
        for (const item of turn(term.items)) {
          set.add(buildIn(item, isTurned, outer));
        }
      });
    }
    case "map": {
      const map = new Map();
      return inside(map, (outer) => {
        const entries = term.entries.map(([key, value]) =>
          [
            buildIn(key, isTurned, outer),
            buildIn(value, isTurned, outer),
          ] as const
        );
        // The last entry with a key counts.
        for (const [key, value] of turn([...new Map(entries)])) {
          map.set(key, value);
        }
      });
    }
    case "object": {
      const object = {};
      return inside(object, (outer) => {
        for (const [name, item] of turn(term.entries)) {
          Object.defineProperty(object, name, {
            value: buildIn(item, isTurned, outer),
            configurable: true,
            enumerable: true,
            writable: true,
          });
        }
      });
    }
  }
}

function bytesOf({ type, bytes }: Term & { kind: "bytes" }): unknown {
  const { buffer } = Uint8Array.from(bytes);
  switch (type) {
    case "ArrayBuffer":
      return buffer;
    case "Uint16Array":
      return Uint16Array.from(bytes);
    default:
      return new globalThis[type](buffer);
  }
}

/** Replaces one value deep inside by a similar one. */
export function almost(term: Term): Term {
  switch (term.kind) {
    case "leaf": {
      const at = LEAVES.findIndex((value) => Object.is(value, term.value));
      return { kind: "leaf", value: LEAVES[(at + 1) % LEAVES.length] };
    }
    case "array":
    case "holes":
    case "set": {
      const [first, ...rest] = term.items;
      return first === undefined
        ? term
        : { ...term, items: [almost(first), ...rest] };
    }
    case "object":
    case "map": {
      const [first, ...rest] = term.entries as [unknown, Term][];
      if (first === undefined) return term;
      const [name, value] = first;
      return { ...term, entries: [[name, almost(value)], ...rest] } as Term;
    }
    default:
      return term;
  }
}

/** Whether a value contains itself, or would at a greater depth. */
export function hasReference(term: Term): boolean {
  switch (term.kind) {
    case "out":
      return true;
    case "array":
    case "holes":
    case "set":
      return term.items.some(hasReference);
    case "map":
    case "object":
      return term.entries.flat().some((item) =>
        typeof item !== "string" && hasReference(item)
      );
    default:
      return false;
  }
}
