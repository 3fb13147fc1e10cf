import { assert, assertEquals } from "@std/assert";
import { createMemoryStore } from "@quartet/kit/data";
import { SharedNumbers } from "../../data/shared/shared_numbers.ts";

const record = (began: number, tag: string) => ({
  began,
  scopeKey: "k",
  tags: [tag],
  paths: [],
});

function subject() {
  const table = createMemoryStore().invalidations;
  const numbers = new SharedNumbers(table);
  numbers.learn({
    epoch: "e1",
    number: 5,
    scopes: [["*", 1], ["tb", 5]],
    more: false,
  });
  return { table, numbers };
}

Deno.test("Invalidations by other processes are newer than local values, however many local invalidations there are", () => {
  const { table, numbers } = subject();
  for (let i = 0; i < 50_000; i++) {
    const before = record(table.sequence, "a");
    numbers.note({ tags: ["a"] });
    assert(!table.isValid(before), `${i}`);
    const after = record(table.sequence, "a");
    assert(table.isValid(after), `${i}`);
    // Shared values are older than local invalidations that others don't know.
    assert(!table.isValid(record(numbers.toLocal(5), "a")), `${i}`);
    // Never later than it could have known.
    assert((numbers.toShared(after.began) ?? 0) <= 5);
  }
  const computed = record(table.sequence, "b");
  assert(table.isValid(computed));
  numbers.learn({ epoch: "e1", number: 6, scopes: [["tb", 6]], more: false });
  assert(!table.isValid(computed));
  assert(table.isValid(record(table.sequence, "b")));
  assertEquals(numbers.toShared(table.sequence), 6);
  assertEquals(numbers.toLocal(6), table.sequence);
});

Deno.test("After a new epoch, earlier values are invalid and have no shared number", () => {
  const { table, numbers } = subject();
  const before = record(table.sequence, "a");
  assertEquals(numbers.toShared(before.began), 5);
  const all = numbers.learn({
    epoch: "e2",
    number: 1,
    scopes: [["*", 1]],
    more: false,
  });
  assert(all);
  assert(!table.isValid(before));
  assertEquals(numbers.toShared(before.began), undefined);
  assert(table.isValid(record(table.sequence, "a")));
  assertEquals(numbers.position, { epoch: "e2", number: 1 });
});

Deno.test("Partial, repeated and late updates lead to the same state", () => {
  const { table, numbers } = subject();
  const computed = record(table.sequence, "c");
  numbers.learn({
    epoch: "e1",
    number: 9,
    scopes: [["ta", 6], ["pb", 7]],
    more: true,
  });
  assertEquals(numbers.position.number, 7);
  const rest = [["tc", 8], ["?", 9]] as const;
  numbers.learn({ epoch: "e1", number: 9, scopes: rest, more: false });
  numbers.learn({ epoch: "e1", number: 7, scopes: [["ta", 6]], more: false });
  numbers.learn({ epoch: "e1", number: 9, scopes: rest, more: false });
  assertEquals(numbers.position.number, 9);
  assert(!table.isValid(computed));
  assert(table.isValid(record(numbers.toLocal(8), "c")));
  assert(!table.isValid(record(numbers.toLocal(7), "c")));
});
