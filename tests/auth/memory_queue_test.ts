import { assertEquals, assertRejects } from "@std/assert";
import { MemoryQueue } from "../../auth/password/memory_queue.ts";

/** A queue, and work for it that ends when it is told to. */
function queueOf(maxBytes: number, maxWaiting = 100) {
  const queue = new MemoryQueue(maxBytes, maxWaiting);
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const run = (name: string, bytes: number) => {
    const end = Promise.withResolvers<string>();
    ends.set(name, end);
    return queue.run(bytes, () => {
      started.push(name);
      return end.promise;
    });
  };
  const finish = async (name: string) => {
    ends.get(name)!.resolve(name);
    // What waits starts some microtasks later.
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { queue, started, ends, run, finish };
}

Deno.test("As much work runs at once as there is memory for, in its order", async () => {
  const { started, run, finish } = queueOf(10);
  const all = ["a", "b", "c", "d", "e"].map((name) => run(name, 4));
  assertEquals(started, ["a", "b"]);
  await finish("b");
  assertEquals(started, ["a", "b", "c"]);
  await finish("c");
  await finish("a");
  assertEquals(started, ["a", "b", "c", "d", "e"]);
  await finish("d");
  await finish("e");
  assertEquals(await Promise.all(all), ["a", "b", "c", "d", "e"]);
});

Deno.test("Small work doesn't overtake large work", async () => {
  const { started, run, finish } = queueOf(10);
  const all = [run("a", 6), run("large", 8), run("small", 1)];
  assertEquals(started, ["a"]);
  await finish("a");
  assertEquals(started, ["a", "large", "small"]);
  await finish("large");
  await finish("small");
  await Promise.all(all);
});

Deno.test("Work that needs more than there is runs alone", async () => {
  const { started, run, finish } = queueOf(10);
  const all = [run("a", 1), run("huge", 99), run("b", 1)];
  assertEquals(started, ["a"]);
  await finish("a");
  assertEquals(started, ["a", "huge"]);
  await finish("huge");
  assertEquals(started, ["a", "huge", "b"]);
  await finish("b");
  await Promise.all(all);
});

Deno.test("Work that fails makes room as well", async () => {
  const { queue, ends, run, finish } = queueOf(10);
  const failing = run("a", 10);
  const waiting = run("b", 10);
  ends.get("a")!.reject(new Error("no"));
  await assertRejects(() => failing, Error, "no");
  await finish("b");
  assertEquals(await waiting, "b");
  await assertRejects(() =>
    queue.run(10, () => {
      throw new Error("at once");
    })
  );
  assertEquals(await queue.run(10, () => Promise.resolve(1)), 1);
});

Deno.test("A queue is full when so many wait, not when so many run", async () => {
  const { queue, run, finish } = queueOf(2, 2);
  const all = [run("a", 1), run("b", 1)];
  assertEquals(queue.isFull, false);
  all.push(run("c", 1));
  assertEquals(queue.isFull, false);
  all.push(run("d", 1));
  assertEquals(queue.isFull, true);
  await finish("a");
  assertEquals(queue.isFull, false);
  for (const name of ["b", "c", "d"]) await finish(name);
  await Promise.all(all);
});
