import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { createCache } from "@quartet/kit/data";

const cache = createCache();
const fn = cache.unstable_cache(
  (..._args: unknown[]) => Promise.resolve(),
  ["arguments"],
);

function cycle(...names: string[]): unknown {
  const object: Record<string, unknown> = {};
  for (const name of names) object[name] = object;
  return object;
}

function sparse(length: number, values: Record<number, unknown>): unknown[] {
  return Object.assign(new Array(length), values);
}

const now = new Date(1_700_000_000_000);

/** Argument lists that all differ from each other. */
const DIFFERENT: readonly (readonly unknown[])[] = [
  [],
  [undefined],
  [undefined, undefined],
  [null],
  [NaN],
  [Infinity],
  [-Infinity],
  [0],
  [-0],
  [1],
  [1n],
  [-1n],
  ["1"],
  ["1n"],
  [true],
  ["true"],
  [""],
  ["null"],
  ["undefined"],
  ["u"],
  ["h1"],
  ["NaN"],
  ["a", "b"],
  ["a:b"],
  ["a,b"],
  ['a","b'],
  [["a", "b"]],
  [["a"], ["b"]],
  [["a"], "b"],
  [[["a"]]],
  ["a\0b"],
  ["\ud800"],
  ["\ud801"],
  ["\\ud800"],
  ["\ufffd"],
  [{}],
  [[]],
  [{ a: undefined }],
  [{ a: null }],
  [{ a: 1 }],
  [{ a: "1" }],
  [{ a: 1, b: 2 }],
  [{ a: { b: 2 } }],
  [{ "a:1,b": 2 }],
  [{ 'a":1,"b': 2 }],
  [{ "": 1 }],
  [JSON.parse('{"__proto__":1}')],
  [{ constructor: 1 }],
  [{ length: 0 }],
  [now],
  [now.toISOString()],
  [now.getTime()],
  [{ D: now.getTime() }],
  [new Date(NaN)],
  [new Map()],
  [new Set()],
  [new Map([["a", 1]])],
  [new Map([["a", "1"]])],
  [new Map<unknown, unknown>([[1, 1], ["1", 1]])],
  [new Map([[["a", 1], undefined]])],
  [new Set(["a", 1])],
  [new Set([["a", 1]])],
  [new Set([new Set()])],
  [new Map([[{ a: 1 }, new Map([[1n, now]])]])],
  [sparse(1, {})],
  [sparse(2, {})],
  [sparse(4_294_967_295, {})],
  [[undefined, undefined]],
  [sparse(2, { 0: 1 })],
  [sparse(2, { 1: 1 })],
  [[1, undefined]],
  [[1]],
  [Object.assign([1], { name: 1 })],
  [[[1], { name: 1 }]],
  [new ArrayBuffer(2)],
  [new DataView(new ArrayBuffer(2))],
  [new Uint8Array(2)],
  [new Int8Array(2)],
  [new Uint8ClampedArray(2)],
  [new Uint16Array(1)],
  [new Uint8Array([1, 2])],
  [new Uint8Array([12])],
  [[1, 2]],
  [new Float64Array([0])],
  [new Float64Array([-0])],
  [new BigInt64Array([0n])],
  [cycle("a")],
  [cycle("a", "b")],
  [{ a: { a: 1 } }],
  [[cycle("a"), 1]],
  ["@1"],
  [{ a: "@1" }],
];

Deno.test("unstable_cache() uses different keys for different argument lists", () => {
  const seen = new Map<string, number>();
  DIFFERENT.forEach((args, i) => {
    const key = fn.key(...args);
    const other = seen.get(key);
    assert(
      other === undefined,
      `${i} and ${other}: ${Deno.inspect(args)}, ${
        Deno.inspect(DIFFERENT[other!])
      }`,
    );
    seen.set(key, i);
  });
  assertEquals(seen.size, DIFFERENT.length);
});

/** Pairs of arguments that are equal but not identical. */
const EQUAL: readonly (readonly [unknown, unknown])[] = [
  [{ a: 1, b: 2 }, { b: 2, a: 1 }],
  [{ a: { c: 1, b: 2 } }, { a: { b: 2, c: 1 } }],
  [{ 2: "b", 10: "a" }, { 10: "a", 2: "b" }],
  [{ b: 1, a: undefined }, { a: undefined, b: 1 }],
  [[{ b: 1n, a: NaN }], [{ a: NaN, b: 1n }]],
  [new Date(5), new Date(5)],
  [new Date(NaN), new Date("?")],
  [new Map([["a", 1], ["b", 2]]), new Map([["b", 2], ["a", 1]])],
  [new Set([1, "1"]), new Set(["1", 1])],
  [new Set([{ a: 1, b: 2 }]), new Set([{ b: 2, a: 1 }])],
  [new Uint8Array([1, 2]), new Uint8Array([0, 1, 2, 3]).subarray(1, 3)],
  [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  [cycle("a", "b"), cycle("b", "a")],
  [sparse(3, { 1: "x" }), [, "x", ,]],
  [0n, BigInt(0)],
  ["é", String.fromCharCode(233)],
];

Deno.test("unstable_cache() uses the same key for equal arguments", () => {
  for (const [one, other] of EQUAL) {
    assertEquals(fn.key(one), fn.key(other), Deno.inspect(one));
    assertEquals(fn.key("a", one, 1), fn.key("a", other, 1));
  }
});

Deno.test("An object that is used twice isn't a cycle", () => {
  const shared = { a: 1 };
  assertEquals(fn.key([shared, shared]), fn.key([{ a: 1 }, { a: 1 }]));
  assertEquals(
    fn.key(new Map([[shared, shared]])),
    fn.key(new Map([[{ a: 1 }, { a: 1 }]])),
  );
});

Deno.test("Random arguments have the same key only if they are equal", () => {
  let seed = 1;
  const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n;
  const leaves = [
    0,
    -0,
    1,
    "",
    "a",
    "a,b",
    '"',
    null,
    undefined,
    true,
    1n,
    NaN,
  ];
  function make(depth: number): unknown {
    const size = random(3);
    const make1 = () => make(depth - 1);
    switch (depth === 0 ? 0 : random(6)) {
      case 1:
        return Array.from({ length: size }, make1);
      case 2:
        return Object.fromEntries(
          Array.from({ length: size }, () => ["ab:,"[random(4)], make1()]),
        );
      case 3:
        return new Map(
          Array.from({ length: size }, () => [leaves[random(12)], make1()]),
        );
      case 4:
        return new Set(
          Array.from({ length: size }, () => leaves[random(12)]),
        );
      case 5:
        return new Date(random(3));
      default:
        return leaves[random(leaves.length)];
    }
  }
  /** Encodes arguments in a second, slow way, to compare the results. */
  function spell(value: unknown): string {
    if (value instanceof Map) {
      return `map(${
        [...value].map(([k, v]) => `${spell(k)}→${spell(v)}`).sort().join("|")
      })`;
    }
    if (value instanceof Set) {
      return `set(${[...value].map(spell).sort().join("|")})`;
    }
    if (value instanceof Date) return `date(${value.getTime()})`;
    if (Array.isArray(value)) return `array(${value.map(spell).join("|")})`;
    if (typeof value === "object" && value !== null) {
      return `object(${
        Object.entries(value).map(([k, v]) => `${spell(k)}→${spell(v)}`).sort()
          .join("|")
      })`;
    }
    if (typeof value === "string") {
      return `string(${encodeURIComponent(value)})`;
    }
    return `${typeof value}(${Object.is(value, -0) ? "-0" : String(value)})`;
  }
  const byKey = new Map<string, string>();
  const bySpelling = new Map<string, string>();
  for (let i = 0; i < 20_000; i++) {
    const value = make(3);
    const key = fn.key(value);
    const spelling = spell(value);
    assertEquals(byKey.get(key) ?? spelling, spelling);
    assertEquals(bySpelling.get(spelling) ?? key, key);
    byKey.set(key, spelling);
    bySpelling.set(spelling, key);
  }
  assert(byKey.size > 1_000);
});

class Point {
  x = 1;
}
class Table extends Map {}
class List extends Array {}

Deno.test("unstable_cache() rejects arguments that aren't data and names the position", async () => {
  const cases: readonly (readonly [unknown[], string])[] = [
    [[() => {}], "argument 1 must be data"],
    [[1, Symbol("s")], "argument 2 must be data"],
    [[{ a: [1, { "b c": () => {} }] }], 'argument 1.a[1]["b c"] must'],
    [[new Point()], "received an instance of Point"],
    [[{ at: new Point() }], "argument 1.at must"],
    [[new Map([["a", new Point()]])], "argument 1 value 0 must"],
    [[new Map([[new Point(), 1]])], "argument 1 key 0 must"],
    [[new Set([1, () => {}])], "argument 1 item 1 must"],
    [[{ [Symbol("s")]: 1 }], "a symbol as a key"],
    [[new Table()], "received an instance of"],
    [[new List()], "received an instance of"],
    [[Object.create({ inherited: 1 })], "must be data"],
    [[new Request("http://localhost/")], "received an instance of Request"],
    [[new WeakMap()], "received an instance of WeakMap"],
    [[Promise.resolve()], "received an instance of Promise"],
    [[/a/], "received an instance of RegExp"],
    [[new Error("a")], "received an instance of Error"],
  ];
  for (const [args, message] of cases) {
    assertThrows(() => fn.key(...args), TypeError, message);
    assertThrows(() => fn.key(...args), TypeError, "Cannot make a cache key");
    await assertRejects(() => fn(...args), TypeError, message);
    await assertRejects(() => fn.invalidate(...args), TypeError, message);
  }
});

Deno.test("unstable_cache() rejects endlessly nested arguments without a stack overflow", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  assertThrows(() => fn.key(deep), TypeError, "nested too deeply");
});

Deno.test("keyParts are distinguished from each other and from arguments", () => {
  const make = (...parts: string[]) =>
    cache.unstable_cache((..._: unknown[]) => Promise.resolve(), parts);
  const keys = [
    make("a").key("b"),
    make("a", "b").key(),
    make("a,b").key(),
    make("a\\,b").key(),
    make("a\\", "b").key(),
    make("").key(),
    make("", "").key(),
    make().key(),
    make().key(),
    make("a").key(),
  ];
  assertEquals(new Set(keys).size, keys.length);
  assertEquals(make("a").key(1), make("a").key(1));
  assertNotEquals(make("a").key(1), make("b").key(1));
});
