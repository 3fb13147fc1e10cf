import { assertEquals, assertRejects } from "@std/assert";
import {
  createWeightedSemaphore,
  QueueFullError,
} from "../../auth/password/weighted_semaphore.ts";

/** Creates a semaphore, and work that the test finishes. */
function semaphoreOf(maxBytes: number, maxWaiting = 100) {
  const runInTurn = createWeightedSemaphore(maxBytes, maxWaiting);
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const run = (name: string, bytes: number, caller?: string) => {
    const end = Promise.withResolvers<string>();
    ends.set(name, end);
    return runInTurn(bytes, () => {
      started.push(name);
      return end.promise;
    }, caller);
  };
  const finish = async (name: string) => {
    ends.get(name)!.resolve(name);
    // Waiting work starts some microtasks later.
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { runInTurn, started, ends, run, finish };
}

Deno.test("Work runs in order, as much at once as the memory allows", async () => {
  const { started, run, finish } = semaphoreOf(10);
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
  const { started, run, finish } = semaphoreOf(10);
  const all = [run("a", 6), run("large", 8), run("small", 1)];
  assertEquals(started, ["a"]);
  await finish("a");
  assertEquals(started, ["a", "large", "small"]);
  await finish("large");
  await finish("small");
  await Promise.all(all);
});

Deno.test("Work larger than the memory runs alone", async () => {
  const { started, run, finish } = semaphoreOf(10);
  const all = [run("a", 1), run("huge", 99), run("b", 1)];
  assertEquals(started, ["a"]);
  await finish("a");
  assertEquals(started, ["a", "huge"]);
  await finish("huge");
  assertEquals(started, ["a", "huge", "b"]);
  await finish("b");
  await Promise.all(all);
});

Deno.test("Failed work frees its memory", async () => {
  const { runInTurn, ends, run, finish } = semaphoreOf(10);
  const failing = run("a", 10);
  const waiting = run("b", 10);
  ends.get("a")!.reject(new Error("no"));
  await assertRejects(() => failing, Error, "no");
  await finish("b");
  assertEquals(await waiting, "b");
  await assertRejects(() =>
    runInTurn(10, () => {
      throw new Error("at once");
    })
  );
  assertEquals(await runInTurn(10, () => Promise.resolve(1)), 1);
});

Deno.test("The queue's limit counts waiting work, not running work", async () => {
  const { run, finish } = semaphoreOf(2, 2);
  const all = ["a", "b", "c", "d"].map((name) => run(name, 1));
  await assertRejects(() => run("e", 1), QueueFullError);
  await finish("a");
  all.push(run("f", 1));
  await assertRejects(() => run("g", 1), QueueFullError);
  for (const name of ["b", "c", "d", "f"]) await finish(name);
  assertEquals(await Promise.all(all), ["a", "b", "c", "d", "f"]);
});

Deno.test("Callers take turns, however much work one of them has waiting", async () => {
  const { started, run, finish } = semaphoreOf(1);
  const names = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"];
  const all = names.map((name) => run(name, 1, name[0]));
  const order = ["a1", "a2", "b1", "c1", "a3", "b2", "a4"];
  for (const name of order) {
    assertEquals(started.at(-1), name);
    await finish(name);
  }
  assertEquals(await Promise.all(all), names);
});

Deno.test("A full queue drops the latest work of the caller with the most work", async () => {
  const { started, run, finish } = semaphoreOf(1, 4);
  const first = run("first", 1, "a");
  const [a1, a2, a3, a4] = ["a1", "a2", "a3", "a4"].map((name) =>
    run(name, 1, "a")
  );
  await assertRejects(() => run("a5", 1, "a"), QueueFullError);
  const b1 = run("b1", 1, "b");
  await assertRejects(() => a4!, QueueFullError);
  const b2 = run("b2", 1, "b");
  await assertRejects(() => a3!, QueueFullError);
  // Two of each are waiting, so nobody has more than their share.
  await assertRejects(() => run("b3", 1, "b"), QueueFullError);
  await assertRejects(() => run("a6", 1, "a"), QueueFullError);
  const c1 = run("c1", 1, "c");
  await assertRejects(() => a2!, QueueFullError);
  for (const name of ["first", "a1", "b1", "c1", "b2"]) await finish(name);
  await Promise.all([first, a1, b1, b2, c1]);
  assertEquals(started, ["first", "a1", "b1", "c1", "b2"]);
});

Deno.test("Small work of other callers doesn't overtake large work", async () => {
  const { started, run, finish } = semaphoreOf(10);
  const all = [run("a", 6), run("large", 8, "b"), run("small", 1, "c")];
  assertEquals(started, ["a"]);
  await finish("a");
  assertEquals(started, ["a", "large", "small"]);
  await finish("large");
  await finish("small");
  await Promise.all(all);
});
