/**
 * Opening lines of code in the editor, through the dev command's server.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { addressOf, type Folder, makeFolder, startDev } from "./dev_command.ts";

/** An editor that writes its arguments into the file `opened`. */
const EDITOR = `#!/bin/sh
[ "$1" = --fail ] && exit 3
for word; do printf '%s\\n' "$word"; done > "$(dirname "$0")/opened"
`;

/** Starts the dev command in a folder with an editor. */
async function start(folder: Folder, editor: string, permission = "-A") {
  await folder.write(
    "main.ts",
    `export default { fetch: () => new Response() };`,
  );
  await folder.write("code", EDITOR);
  await Deno.chmod(`${folder.path}/code`, 0o755);
  const child = startDev(
    ["main.ts", "--port", "0", "--trace"],
    folder,
    permission.split(" "),
    {
      env: { LAUNCH_EDITOR: editor, VISUAL: "", EDITOR: "", TERM_PROGRAM: "" },
    },
  );
  return { child, url: await addressOf(child) };
}

/** Asks to open a file, as the viewer does. Returns the status and message. */
async function open(
  url: URL,
  body: unknown,
  init: RequestInit = {},
): Promise<[status: number, message: string]> {
  const response = await fetch(new URL("/__app/traces/open", url), {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
    headers: {
      "content-type": "application/json",
      origin: url.origin,
      ...init.headers,
    },
  });
  const text = await response.text();
  return [response.status, text === "" ? "" : JSON.parse(text).error.message];
}

Deno.test("POST /__app/traces/open opens a file of the project in the editor", async (t) => {
  await using folder = await makeFolder();
  await using outside = await makeFolder();
  const { child, url } = await start(folder, `"${folder.path}/code" --wait`);
  await using _child = child;
  const opened = async () => {
    const path = `${folder.path}/opened`;
    const words = await Deno.readTextFile(path).catch(() => "");
    await Deno.remove(path).catch(() => {});
    return words.split("\n").slice(0, -1);
  };
  const allowed = async (name: string, line?: number) => {
    const path = `${folder.path}/${name}`;
    assertEquals(await open(url, { path, line }), [204, ""]);
    const real = await Deno.realPath(path);
    assertEquals(await opened(), ["--wait", "-g", `${real}:${line ?? 1}`]);
  };
  const NO_FILE = "The working directory has no such file";
  const refused = async (
    path: string,
    expected: [number, string] = [403, NO_FILE],
  ) => {
    assertEquals(await open(url, { path, line: 1 }), expected, path);
    assertEquals(await opened(), [], path);
  };

  await t.step("at the line", async () => {
    await allowed("main.ts", 7);
    await allowed("main.ts");
  });

  await t.step("with characters that a shell would run", async () => {
    for (
      const name of [
        "a; touch hacked;.ts",
        "$(touch hacked).ts",
        "`touch hacked`.ts",
        "a && touch hacked.ts",
        "a' \" b.ts",
        "-g.ts",
        "two\nlines.ts".replace("\n", "\t"),
        "posts [id].ts",
        "größe 🙂.ts",
      ]
    ) {
      await folder.write(name, "");
      await allowed(name, 1);
    }
    await Deno.stat(`${folder.path}/hacked`).then(
      () => assert(false, "the name was run"),
      () => {},
    );
  });

  await t.step("but no file outside of the working directory", async () => {
    await outside.write("secret.ts", "");
    const name = outside.path.split("/").at(-1);
    await refused(`${outside.path}/secret.ts`);
    await refused(`${folder.path}/../${name}/secret.ts`);
    await refused(`${folder.path}/../../etc/passwd`);
    await refused(`${folder.path}-other/main.ts`);
    await refused("/etc/passwd");
  });

  await t.step("nor behind a symbolic link that leads out of it", async () => {
    await Deno.symlink(`${outside.path}/secret.ts`, `${folder.path}/link.ts`);
    await Deno.symlink(outside.path, `${folder.path}/linked`);
    await refused(`${folder.path}/link.ts`);
    await refused(`${folder.path}/linked/secret.ts`);
    await Deno.symlink(`${folder.path}/main.ts`, `${folder.path}/inside.ts`);
    await allowed("inside.ts", 2);
  });

  await t.step("nor what isn't the path of a regular file", async () => {
    await Deno.mkdir(`${folder.path}/folder`);
    for (
      const path of [
        folder.path,
        `${folder.path}/folder`,
        `${folder.path}/missing.ts`,
        `${folder.path}/main.ts\0.png`,
        `${folder.path}/main.ts/`,
        `file://${folder.path}/main.ts`,
        "https://example.com/main.ts",
        "\\\\example.com\\share\\main.ts",
        "main.ts",
        "--version",
        "/dev/tty",
      ]
    ) await refused(path);
    await refused("", [400, "path must be a string"]);
  });
});

Deno.test("Only the viewer can open files", async (t) => {
  await using folder = await makeFolder();
  const { child, url } = await start(folder, `${folder.path}/code`);
  await using _child = child;
  const path = `${folder.path}/main.ts`;
  const nothingOpened = async () => {
    const names = await Array.fromAsync(Deno.readDir(folder.path));
    assertEquals(names.map(({ name }) => name).sort(), ["code", "main.ts"]);
  };

  await t.step("and no other program or page", async () => {
    const evil = { origin: "https://evil.example" };
    const port = { origin: `http://127.0.0.1:${Number(url.port) + 1}` };
    for (const headers of [evil, port, { origin: "null" }, { origin: "" }]) {
      const [status] = await open(url, { path }, { headers });
      assertEquals(status, 403, JSON.stringify(headers));
    }
    for (
      const headers of [
        { "x-forwarded-for": "192.0.2.1" },
        { "sec-fetch-site": "cross-site" },
      ]
    ) assertEquals((await open(url, { path }, { headers }))[0], 403);
    const plain = await fetch(new URL("/__app/traces/open", url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ path }),
    });
    assertEquals(plain.status, 403, await plain.text());
    await nothingOpened();
  });

  await t.step(
    "with a POST of JSON",
    async () => {
      for (
        const type of [
          "text/plain",
          "application/x-www-form-urlencoded",
          "text/plain; application/json",
        ]
      ) {
        const headers = { "content-type": type };
        assertEquals((await open(url, { path }, { headers }))[0], 415, type);
      }
      for (const method of ["GET", "PUT", "DELETE"]) {
        const query = new URLSearchParams({ path });
        const target = new URL(`/__app/traces/open?${query}`, url);
        const response = await fetch(target, { method });
        assertEquals(response.status, 405, await response.text());
        assertEquals(response.headers.get("allow"), "POST");
      }
      for (
        const body of [
          "",
          "{",
          "null",
          "[]",
          { path: 7 },
          { path: [path] },
          { path, line: 0 },
          { path, line: "1; touch hacked" },
          { path, line: 1.5 },
          { path: "a".repeat(20_000) },
        ]
      ) {
        const [status] = await open(url, body);
        assertEquals(status, 400, JSON.stringify(body).slice(0, 50));
      }
      await nothingOpened();
    },
  );
});

Deno.test("The editor is the chosen one, the terminal's, the one of VISUAL or EDITOR, or an installed one", async () => {
  await using folder = await makeFolder();
  for (const name of ["code", "zed", "gvim", "webstorm", "other"]) {
    await folder.write(
      name,
      `#!/bin/sh\nprintf '%s ' "\${0##*/}" "$@" > "\${0%/*}/opened"\n`,
    );
    await Deno.chmod(`${folder.path}/${name}`, 0o755);
  }
  await folder.write(
    "main.ts",
    `import process from "node:process";
    delete process.env.ZED_TERM;
    delete process.env.CURSOR_TRACE_ID;
    export default { async fetch(request) {
      Object.assign(process.env, await request.json());
      return new Response();
    } };`,
  );
  await using child = startDev(
    ["main.ts", "--port", "0", "--trace"],
    folder,
    ["-A"],
    { env: { PATH: `${folder.path}:${Deno.env.get("PATH")}` } },
  );
  const url = await addressOf(child);
  const path = await Deno.realPath(`${folder.path}/main.ts`);
  const none = { LAUNCH_EDITOR: "", TERM_PROGRAM: "", VISUAL: "", EDITOR: "" };
  const openedWith = async (variables: Partial<typeof none>) => {
    const body = JSON.stringify({ ...none, ...variables });
    await (await fetch(url, { method: "POST", body })).body?.cancel();
    assertEquals(await open(url, { path, line: 7 }), [204, ""]);
    const words = await Deno.readTextFile(`${folder.path}/opened`);
    return words.trim().replace(path, "PATH");
  };
  const others = { VISUAL: "gvim -f", EDITOR: "webstorm" };
  assertEquals(
    [
      await openedWith({ LAUNCH_EDITOR: "zed", TERM_PROGRAM: "vscode" }),
      await openedWith({ TERM_PROGRAM: "vscode", ...others }),
      await openedWith(others),
      await openedWith({ ...others, VISUAL: "vim" }),
      await openedWith({ VISUAL: "vim", EDITOR: "nano" }),
      await openedWith({ LAUNCH_EDITOR: "other" }),
    ],
    [
      "zed PATH:7",
      "code -g PATH:7",
      "gvim -f +7 PATH",
      "webstorm --line 7 PATH",
      "code -g PATH:7",
      "other PATH",
    ],
  );
});

Deno.test("A file that can't be opened is answered with the reason", async () => {
  await using folder = await makeFolder();
  const reasonOf = async (editor: string, permission?: string) => {
    const { child, url } = await start(folder, editor, permission);
    await using _child = child;
    return await open(url, { path: `${folder.path}/main.ts`, line: 1 });
  };
  assertEquals(
    await Promise.all([
      reasonOf("no-such-editor"),
      reasonOf(`${folder.path}/code --fail`),
      reasonOf("vim -u none"),
      reasonOf("/bin/sh", "--allow-net --allow-read --allow-env --no-prompt"),
    ]),
    [
      [503, "Cannot start no-such-editor: it isn't on the PATH"],
      [503, `Cannot open the file with ${folder.path}/code: it exited with 3`],
      [
        503,
        "Cannot start vim: LAUNCH_EDITOR must name an editor with a window of its own, as in LAUNCH_EDITOR=code",
      ],
      [
        503,
        'Cannot start /bin/sh: Requires run access to "/bin/sh", run again with the --allow-run flag',
      ],
    ],
  );
});
