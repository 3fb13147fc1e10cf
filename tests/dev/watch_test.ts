/**
 * The dev command under Deno's `--watch`.
 *
 * @module
 */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { type Child, ROOT, startDeno } from "../helpers.ts";
import { addressOf, type Folder, makeFolder } from "./dev_command.ts";

const ENTRY = `
console.log("process", Deno.pid);
export default {
  fetch: () => new Response("x"),
  close() { console.log("closed"); },
};
`;
const COMMAND = [
  "run",
  "-A",
  "--no-check",
  "--watch",
  `--config=${new URL("deno.json", ROOT).pathname}`,
  new URL("dev.ts", ROOT).pathname,
  "main.ts",
  "--port=0",
];

/** A project with a task for the dev command. */
async function makeProject(): Promise<Folder> {
  const folder = await makeFolder();
  await folder.write("main.ts", ENTRY);
  const tasks = { dev: `deno ${COMMAND.join(" ")}` };
  await folder.write("deno.json", JSON.stringify({ tasks }));
  return folder;
}

/** Returns the addresses that a command has printed. */
function addressesOf({ stdout }: Child): string[] {
  return Array.from(
    stdout.matchAll(/^Listening on (.*)$/gm),
    ([, url]) => url!,
  );
}

function assertRefused(url: string) {
  const { hostname, port } = new URL(url);
  return assertRejects(
    () => Deno.connect({ hostname, port: Number(port) }),
    Deno.errors.ConnectionRefused,
  );
}

/** Kills the process that the entry has printed, if it still runs. */
function killWatcher({ stdout }: Child): void {
  const [, pid] = /^process (\d+)$/m.exec(stdout) ?? [];
  try {
    if (pid !== undefined) Deno.kill(Number(pid), "SIGKILL");
  } catch {
    // It has ended, as it should.
  }
}

/**
 * Changes the entry until it is loaded again. The watcher misses a change that
 * comes right after a start.
 */
async function change<T>(
  folder: Folder,
  text: string,
  isLoaded: () => Promise<T>,
): Promise<T> {
  const write = () => folder.write("main.ts", text);
  await write();
  const timer = setInterval(write, 5_000);
  try {
    return await isLoaded();
  } finally {
    clearInterval(timer);
  }
}

/** Kills a command that hangs, so that its test fails. */
function limit(child: Child): Disposable {
  const timer = setTimeout(() => child.kill("SIGKILL"), 240_000);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

const ignore = Deno.build.os === "windows";

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test({
    name:
      `a task of dev with --watch ends with 0 on ${signal}, frees the port and writes --export`,
    ignore,
    async fn() {
      await using folder = await makeProject();
      await using child = startDeno(
        ["task", "dev", "--trace", "--export", "out.html"],
        folder.path,
      );
      try {
        const url = await addressOf(child);
        await (await fetch(url)).text();
        await child.printed(/^GET \/ 200/m);
        child.kill(signal);
        assertEquals(await child.code, 0, child.stdout + child.stderr);
        assertMatch(child.stdout, /^closed$/m);
        assertMatch(child.stdout, /^Wrote 1 trace to out\.html$/m);
        await assertRefused(url.href);
      } finally {
        killWatcher(child);
      }
    },
  });
}

Deno.test({
  name: "dev with --watch restarts several times, and then ends on SIGTERM",
  ignore,
  async fn() {
    await using folder = await makeProject();
    await using child = startDeno(COMMAND, folder.path);
    using _ = limit(child);
    await addressOf(child);
    for (const answer of ["a", "b", "c"]) {
      const text = `console.log("entry ${answer}");
        ${ENTRY.replace('"x"', `"${answer}"`)}`;
      const loaded = new RegExp(
        `^entry ${answer}\\n[^]*?^Listening on (.*)$`,
        "m",
      );
      const [, url] = await change(folder, text, () => child.printed(loaded));
      const response = await fetch(url!);
      assertEquals(await response.text(), answer);
    }
    child.kill("SIGTERM");
    assertEquals(await child.code, 0, child.stdout + child.stderr);
    for (const url of addressesOf(child)) await assertRefused(url);
  },
});

Deno.test({
  name: "dev with --watch ends on SIGTERM after the entry failed to load",
  ignore,
  async fn() {
    await using folder = await makeProject();
    await using child = startDeno(COMMAND, folder.path);
    using _ = limit(child);
    await addressOf(child);
    const broken = 'console.log("broken"); throw new Error();';
    await change(folder, broken, () => child.printed(/^broken$/m));
    child.kill("SIGTERM");
    assertEquals(await child.code, 143);
  },
});

Deno.test({
  name:
    "dev with --watch writes --export on SIGTERM after a slow app has closed",
  ignore,
  async fn() {
    await using folder = await makeProject();
    const slow = "new Promise((resolve) => setTimeout(resolve, 1_000))";
    const text = `export default {
      fetch: () => new Response("x"),
      close: () => ${slow},
    };`;
    await folder.write("main.ts", text);
    await using child = startDeno(
      [...COMMAND, "--trace", "--export=out.html"],
      folder.path,
    );
    await (await fetch(await addressOf(child))).text();
    await child.printed(/^GET \/ 200/m);
    child.kill("SIGTERM");
    assertEquals(await child.code, 0, child.stdout + child.stderr);
    assertMatch(child.stdout, /^Wrote 1 trace to out\.html$/m);
  },
});

Deno.test({
  name: "dev with --watch writes --export on SIGTERM while a response goes on",
  ignore,
  async fn() {
    await using folder = await makeProject();
    const stream = "new Response(new ReadableStream(), { status: 202 })";
    await folder.write("main.ts", ENTRY.replace('new Response("x")', stream));
    await using child = startDeno(
      [...COMMAND, "--trace", "--export=out.html"],
      folder.path,
    );
    const response = await fetch(await addressOf(child));
    child.kill("SIGTERM");
    assertEquals(await child.code, 0, child.stdout + child.stderr);
    assertMatch(child.stdout, /^Wrote 1 trace to out\.html$/m);
    await response.body?.cancel().catch(() => {});
  },
});
