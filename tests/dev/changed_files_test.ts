import { assertEquals } from "@std/assert";
import { changedFiles, readFileStates } from "../../dev/runs/file_states.ts";
import { makeFolder } from "./dev_command.ts";

Deno.test("The files that changed are source files, the last saved one first", async () => {
  await using folder = await makeFolder();
  await Deno.mkdir(`${folder.path}/lib/node_modules`, { recursive: true });
  const write = (names: string[], text: string) =>
    Promise.all(names.map((name) => folder.write(name, text)));
  const names = [
    "main.ts",
    "lib/posts.ts",
    "lib/same.ts",
    "old.js",
    "deno.json",
    "posts_test.ts",
    "notes.db",
    "lib/node_modules/a.js",
  ];
  await write(names, "1");
  const before = await readFileStates(folder.path);
  assertEquals([...before.keys()].sort(), [
    "deno.json",
    "lib/posts.ts",
    "lib/same.ts",
    "main.ts",
    "old.js",
  ]);
  await Deno.remove(`${folder.path}/old.js`);
  await write(names.filter((name) => !/same|old/.test(name)), "22");
  for (const [i, name] of ["deno.json", "lib/posts.ts", "main.ts"].entries()) {
    const time = new Date(Date.now() + i * 1_000);
    await Deno.utime(`${folder.path}/${name}`, time, time);
  }
  const after = await readFileStates(folder.path);
  assertEquals(changedFiles(before, after), [
    "main.ts",
    "lib/posts.ts",
    "deno.json",
    "old.js",
  ]);
  assertEquals(changedFiles(after, after), []);
});
