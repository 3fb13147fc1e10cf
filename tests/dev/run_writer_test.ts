/**
 * How soon the traces of a run are on disk, and how many of them.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { MAX_SEGMENT, RunFolder } from "../../dev/runs/run_folder.ts";
import { createWriter } from "../../dev/runs/writer.ts";
import { yieldToEventLoop } from "../../core/promises.ts";
import { fakeTimers } from "../rpc/fake_timers.ts";
import { segmentsIn } from "./books_app.ts";
import { makeFolder } from "./dev_command.ts";

const MIB = 1024 * 1024;

function assertNoProblem(problem: Error | string): void {
  throw new Error(`Unexpected: ${problem}`);
}

/** Creates a writer whose lines are kept in memory, by segment. */
function writeToMemory(write = () => Promise.resolve()) {
  const segments: string[] = [];
  const keep = (path: string, text: string) => {
    const index = Number(/\.(\d+)\.jsonl$/.exec(path)![1]);
    segments[index] = (segments[index] ?? "") + text.replaceAll("\n", " ");
  };
  const folder = Object.assign(
    new RunFolder("/memory", "main.ts", assertNoProblem),
    {
      async append(path: string, _: string, text: string) {
        await write();
        keep(path, text);
        return 0;
      },
      appendNow: (path: string, _: string, text: string) => keep(path, text),
    },
  );
  const header = Promise.resolve("{}");
  const onError = assertNoProblem;
  const writer = createWriter({ folder, start: 1, header, onError });
  return { segments, writer };
}

Deno.test("Each line is written within a second, also while others follow", async () => {
  using timers = fakeTimers();
  const { segments, writer } = writeToMemory();
  for (let line = 0; line < 20; line++) {
    writer.add(() => line);
    timers.advance(100);
    await yieldToEventLoop();
    await yieldToEventLoop();
    const written = (segments[0] ?? "").split(" ").length - 1;
    assert(line - written < 9, `${written} lines of ${line + 1} are written`);
  }
  timers.advance(1_000);
  await yieldToEventLoop();
  assert(segments[0]!.endsWith(" 19 "), segments[0]);
});

Deno.test("A process that fails writes all lines, also one that is being written and those behind it", async () => {
  using timers = fakeTimers();
  const disk = Promise.withResolvers<void>();
  const { segments, writer } = writeToMemory(() => disk.promise);
  const long = "x".repeat(256 * 1024);
  writer.add(() => long);
  writer.add(() => 1);
  timers.advance(1_000);
  await yieldToEventLoop();
  writer.add(() => 2);
  writer.flushNow();
  // The present segment may end in a half written line.
  const all = [, `"${long}" 1 2 `];
  assertEquals(segments, all);
  // An error has several events.
  writer.flushNow();
  assertEquals(segments, all);
  disk.resolve();
  await writer.close();
  assertEquals(segments, [`"${long}" `, all[1]]);
});

Deno.test("Under load, at most 625 lines wait, the latest ones", async () => {
  using _timers = fakeTimers();
  const { segments, writer } = writeToMemory();
  let reads = 0;
  for (let line = 0; line < 10_000; line++) {
    writer.add(() => (reads++, line));
  }
  await writer.close();
  assert(reads >= 500 && reads <= 625, `${reads} lines`);
  assert(segments[0]!.endsWith(" 9999 "));
});

Deno.test("A run keeps two segments, and the folder at most 32 MiB and 3 damaged segments", async () => {
  await using folder = await makeFolder();
  const runs = new RunFolder(folder.path, "main.ts", assertNoProblem);
  const header = Promise.resolve("{}");
  const onError = assertNoProblem;
  const writer = createWriter({ folder: runs, start: 1, header, onError });
  for (let line = 0; line < 11; line++) {
    writer.add(() => "x".repeat(MIB));
    await writer.close();
  }
  const paths = await segmentsIn(folder);
  assertEquals(paths, [runs.pathOf(1, 1), runs.pathOf(1, 2)]);
  const { size } = await Deno.stat(paths[0]!);
  assert(size >= MAX_SEGMENT && size < MAX_SEGMENT + 2 * MIB, `${size}`);

  for (let i = 0; i < 10; i++) {
    const path = runs.pathOf(10 + i, 0);
    await Deno.writeTextFile(path, "");
    await Deno.truncate(path, MAX_SEGMENT);
    await Deno.writeTextFile(`${runs.pathOf(i, 9)}.damaged`, "");
    for (const each of [path, `${runs.pathOf(i, 9)}.damaged`]) {
      await Deno.utime(each, 2e9 + i, 2e9 + i);
    }
  }
  await runs.read(false);
  const left = await Array.fromAsync(Deno.readDir(runs.path));
  const isDamaged = ({ name }: Deno.DirEntry) => name.endsWith(".damaged");
  assertEquals(
    left.filter(isDamaged).map(({ name }) => name).sort(),
    [7, 8, 9].map((i) => `${runs.pathOf(i, 9)}.damaged`.split("/").at(-1)),
  );
  assertEquals(
    await segmentsIn(folder),
    Array.from({ length: 8 }, (_, i) => runs.pathOf(12 + i, 0)),
  );
});
