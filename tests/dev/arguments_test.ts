import { assert, assertEquals, assertMatch } from "@std/assert";
import { dev } from "@quartet/kit/dev";
import process from "node:process";
import { runDev } from "./dev_command.ts";

for (const args of [["--help"], ["-h"], ["main.ts", "--help"]]) {
  Deno.test(`dev ${args.join(" ")} prints the usage and exits with 0`, async () => {
    const { code, stdout, stderr } = await runDev(args);
    assertEquals([code, stderr], [0, ""]);
    assertMatch(stdout, /^Usage: dev ENTRY \[options\]\n/);
    for (
      const flag of [
        "trace",
        "export",
        "to",
        "no-panel",
        "port",
        "host",
        "open",
        "help",
      ]
    ) assertMatch(stdout, new RegExp(`^  --${flag}\\b`, "m"));
  });
}

for (
  const [args, message] of [
    [
      [],
      "Missing ENTRY: name the file that default-exports the app, such as main.ts",
    ],
    [
      ["--trace"],
      "Missing ENTRY: name the file that default-exports the app, such as main.ts",
    ],
    [["a.ts", "--nope"], "Unknown option '--nope'"],
    [["a.ts", "--trce"], "Unknown option '--trce'; did you mean --trace?"],
    [["a.ts", "-x"], "Unknown option '-x'"],
    [["a.ts", "--no-trace"], "Unknown option '--no-trace'"],
    [["a.ts", "b.ts", "c"], "ENTRY must be one file; leave out b.ts c"],
    [["a.ts", "--trace=yes"], "Option '--trace' does not take an argument"],
    [["a.ts", "--port"], "Option '--port <value>' argument missing"],
    [["a.ts", "--port", "-1"], "Option '--port' argument is ambiguous"],
    [
      ["a.ts", "--port", "http"],
      '--port must be a number from 0 to 65535, received "http"',
    ],
    [
      ["a.ts", "--port", "65536"],
      '--port must be a number from 0 to 65535, received "65536"',
    ],
    [
      ["a.ts", "--port=-1"],
      '--port must be a number from 0 to 65535, received "-1"',
    ],
    [
      ["a.ts", "--port=80.5"],
      '--port must be a number from 0 to 65535, received "80.5"',
    ],
    [
      ["a.ts", "--port="],
      '--port must be a number from 0 to 65535, received ""',
    ],
    [
      ["a.ts", "--export", "a.html"],
      "--export needs --trace: add --trace",
    ],
    [["a.ts", "--no-panel"], "--no-panel needs --trace: add --trace"],
    [
      ["a.ts", "--trace", "--export", "a.json"],
      '--export needs the name of an .html file, received "a.json"',
    ],
    [["a.ts", "--fresh"], "--fresh needs --trace: add --trace"],
    [
      ["a.ts", "--to", "http://127.0.0.1:8000"],
      "--to needs --trace: add --trace",
    ],
    ...["8000", "localhost:8000", "ftp://a", "http://a/b", "http://a/?b"].map(
      (url) =>
        [
          ["a.ts", "--trace", "--to", url],
          `--to must be the address of another dev command, such as http://127.0.0.1:8000, received "${url}"`,
        ] as const,
    ),
    [
      ["a.ts", "--trace", "--to", "http://ada:hunter2@localhost:8000"],
      "--to must be the address of another dev command, such as http://127.0.0.1:8000, received a URL with a password",
    ],
    [
      ["a.ts", "--trace", "--port", "8001", "--to", "http://localhost:8001"],
      "--to must be the address of another process, received that of this one",
    ],
    [
      ["a.ts", "--watch"],
      "--watch goes before the file: deno run -A --watch …",
    ],
    // npm passes `--` like this, which changes nothing.
    [["a.ts", "--", "--nope"], "Unknown option '--nope'"],
  ] as const
) {
  const line = ["dev", ...args].join(" ");
  Deno.test(`\`${line}\` prints the reason and the usage, and exits with 2`, async () => {
    const { code, stdout, stderr } = await runDev([...args]);
    assertEquals([code, stdout], [2, ""]);
    const [error, blank, usage] = stderr.split("\n");
    assertEquals([error, blank], [`error: ${message}`, ""]);
    assert(usage!.startsWith("Usage: "));
  });
}

Deno.test("dev on an old version of Deno or Node names the version that it needs", async () => {
  const { error } = console;
  const { versions } = process;
  let printed = "";
  console.error = (text) => printed = text;
  const run = async (versions: Record<string, string>) => {
    Object.assign(process, { versions });
    assertEquals(await dev(["nothing_here.ts"]), 1);
    return printed;
  };
  try {
    for (const node of ["9.0.0", "18.20.4", "20.20.2", "21.0.0"]) {
      assertEquals(
        await run({ node }),
        `error: Cannot serve: Node must be version 22 or newer, received ${node}`,
      );
    }
    for (const deno of ["1.46.3", "2.0.0", "2.8.3"]) {
      assertEquals(
        await run({ deno, node: "24.2.0" }),
        `error: Cannot serve: Deno must be version 2.9 or newer, received ${deno}`,
      );
    }
    for (
      const versions of [
        { node: "22.0.0" },
        { node: "30.0.0" },
        { node: "100.0.0" },
        { deno: "2.9.0", node: "20.0.0" },
        { deno: "2.10.1", node: "24.2.0" },
        { deno: "3.0.0", node: "24.2.0" },
        { deno: "10.0.0", node: "24.2.0" },
      ]
    ) assertMatch(await run(versions), /^error: Cannot load nothing_here\.ts/);
  } finally {
    Object.assign(process, { versions });
    console.error = error;
  }
});

Deno.test("dev() returns its exit code to programs", async () => {
  const { error } = console;
  const printed: unknown[] = [];
  console.error = (text) => printed.push(text);
  try {
    assertEquals(await dev(["--nope"]), 2);
    assertEquals(await dev(["nothing_here.ts"]), 1);
  } finally {
    console.error = error;
  }
  assertEquals(printed[0], "error: Unknown option '--nope'");
  assertEquals(
    printed.at(-1),
    "error: Cannot load nothing_here.ts: there is no such file; paths start at the current folder",
  );
});
