/**
 * The app of `docs/layout.md` and `docs/layout-example.md`. Writes its files into
 * a folder, then checks, tests and starts them.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ROOT, startDeno } from "../helpers.ts";
import { readPage } from "./pages.ts";
import { SETTINGS } from "./settings.ts";

const PAGES = ["docs/layout.md", "docs/layout-example.md"];
const blocks = (await Promise.all(PAGES.map(async (path) => {
  const text = await Deno.readTextFile(new URL(path, ROOT));
  return readPage(path, text).blocks;
}))).flat();
const [tree = ""] = blocks.map(({ text }) => text)
  .filter((text) => text.startsWith("notes/"));

const [settings = ""] = blocks.filter(({ language }) => language === "json")
  .map(({ text }) => text);

/** The files by path. Each begins with a comment that is its path. */
const files = new Map(
  blocks.filter(({ language }) => language === "ts")
    .map(({ text }) => [/^\/\/ (\S+)\n/.exec(text)?.[1] ?? "", text]),
);

/** Writes the app into a folder. */
async function writeApp(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/page`);
  for (const [path, text] of files) {
    await Deno.writeTextFile(`${folder}/${path}`, text);
  }
  await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify(SETTINGS));
}

Deno.test("docs/layout.md shows each file of its tree", () => {
  const names = [...tree.matchAll(/[\w.]+\.ts\b/g)].map(([name]) => name);
  const shown = [...files.keys()].map((path) => path.replace("page/", ""));
  assertEquals(names.toSorted(), shown.toSorted());
});

Deno.test("The app of docs/layout.md is type-checked and passes its tests", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await writeApp(folder);
    await using check = startDeno(["check", ...files.keys()], folder);
    assertEquals(await check.code, 0, check.stderr);
    await using tests = startDeno(["test", "-A", "--no-check"], folder);
    assertEquals(await tests.code, 0, tests.stdout);
    assertStringIncludes(tests.stdout, "2 passed | 0 failed");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("The page of docs/layout.md is built without code of the server", async () => {
  const { tasks } = JSON.parse(settings);
  const folder = await Deno.makeTempDir();
  try {
    await writeApp(folder);
    await using build = startDeno(tasks.build.split(" ").slice(1), folder);
    assertEquals(await build.code, 0, build.stderr);
    const page = await Deno.readTextFile(`${folder}/page.js`);
    assertStringIncludes(page, "/api/rpc");
    for (const ofServer of ["SELECT", "verifyPassword", "Sign in first"]) {
      assert(!page.includes(ofServer), ofServer);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("The server of docs/layout.md starts, and needs its secret", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await writeApp(folder);
    const args = ["run", "-A", "--no-check", "main.ts"];
    await using refused = startDeno(args, folder);
    assertEquals(await refused.code, 1);
    assertStringIncludes(
      refused.stderr,
      "session.secret must be given; make one with: openssl rand",
    );

    const secret = "a secret of at least thirty-two bytes";
    const env = { SESSION_SECRET: secret, PORT: "0" };
    await using server = startDeno(args, folder, { env });
    const [, url = ""] = await server.printed(/Listening on (\S+)/);
    const response = await fetch(url);
    assertStringIncludes(await response.text(), "Sign in");
    server.kill("SIGTERM");
    assertEquals(await server.code, 0, server.stderr);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
