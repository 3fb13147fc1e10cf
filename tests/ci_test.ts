/**
 * The commands that test the project, as README, CONTRIBUTING and `.ci/run`
 * state them.
 *
 * @module
 */

import { assert, assertEquals, assertLess } from "@std/assert";
import { readPages } from "./docs/pages.ts";
import { ROOT } from "./helpers.ts";
import { hasPostgres } from "./postgres_server.ts";

const DEMO = "npx -y deno task dev --trace";
const TEST = "npx -y deno task test";

const pages = await readPages();
const pageOf = (path: string) => pages.find((page) => page.path === path)!;

Deno.test("The README states the commands of the demo and the tests, near each other", () => {
  const { blocks } = pageOf("README.md");
  const [demo, test] = [DEMO, TEST].map((command) => {
    const block = blocks.find(({ language, text }) =>
      language === "sh" && text === command
    );
    assert(block, `no block is \`${command}\``);
    return Number(block.place.split(":")[1]);
  });
  assertLess(Math.abs(demo! - test!), 10);
});

Deno.test("CONTRIBUTING states the same commands as the README", () => {
  const { snippets } = pageOf("CONTRIBUTING.md");
  for (const command of [DEMO, TEST]) {
    assert(snippets.includes(command), command);
    assert(snippets.includes(command.replace("npx -y ", "")), command);
  }
});

/** System programs that `.ci/run` uses. The test replaces all others. */
const SYSTEM = ["dirname", "mkdir", "mktemp", "rm", "sed", "sh", "tail", "tee"];

/** A command's output and exit code. */
type Outcome = readonly [output: string, code: number];

/**
 * Runs `.ci/run` with stubs for `npx` and others that record their arguments.
 */
async function runCI(check: Outcome, test: Outcome) {
  const folder = await Deno.makeTempDir();
  try {
    const bin = `${folder}/bin`;
    const calls = `${folder}/calls`;
    await Deno.mkdir(bin);
    await Deno.mkdir(`${folder}/.ci`);
    await Deno.copyFile(new URL(".ci/run", ROOT), `${folder}/.ci/run`);
    for (const program of SYSTEM) {
      await Deno.symlink(await find(program), `${bin}/${program}`);
    }
    const stubs = {
      "apt-get": `echo "apt-get $*" >>${calls}; exit 100`,
      git: `mkdir "$4"`,
      id: "echo 0",
      npx: `echo "npx $*" >>${calls}
        case "$*" in
          *check) echo "$CHECK"; exit ${check[1]};;
          *) echo "$TEST"; exit ${test[1]};;
        esac`,
    };
    for (const [program, code] of Object.entries(stubs)) {
      await Deno.writeTextFile(`${bin}/${program}`, `#!${bin}/sh\n${code}\n`, {
        mode: 0o755,
      });
    }
    const { code, stdout, stderr } = await new Deno.Command(
      await find("bash"),
      {
        args: [`${folder}/.ci/run`],
        clearEnv: true,
        env: { PATH: bin, TMPDIR: folder, CHECK: check[0], TEST: test[0] },
      },
    ).output();
    assertEquals(new TextDecoder().decode(stderr), "");
    return {
      code,
      lastLine: new TextDecoder().decode(stdout).trimEnd().split("\n").at(-1),
      calls: (await Deno.readTextFile(calls)).trimEnd().split("\n"),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function find(program: string): Promise<string> {
  for (const folder of Deno.env.get("PATH")!.split(":")) {
    const path = `${folder}/${program}`;
    if (await Deno.stat(path).then(({ isFile }) => isFile, () => false)) {
      return path;
    }
  }
  throw new Error(`Cannot find ${program}`);
}

const CHECKS_PASS: Outcome = ["# lint\n\n7 passed, 0 failed", 0];
const TESTS_PASS: Outcome = [
  "ok | 9 passed | 0 failed (1s)\n" +
  "ok | 950 passed (3020 steps) | 0 failed | 2 ignored (6m12s)\n",
  0,
];

Deno.test(".ci/run runs the checks, then the README's test command", async () => {
  const { code, lastLine, calls } = await runCI(CHECKS_PASS, TESTS_PASS);
  assertEquals([code, lastLine], [0, "957 passed, 0 failed"]);
  assertEquals(
    calls.filter((call) => call.startsWith("npx"))
      .map((call) => call.replace(/deno@[\d.]+/, "deno")),
    ["npx -y deno task check", TEST],
  );
});

Deno.test(".ci/run continues if programs can't be installed", async () => {
  const { code, calls } = await runCI(CHECKS_PASS, TESTS_PASS);
  const install = "apt-get install -y --no-install-recommends";
  assertEquals(code, 0);
  assertEquals(calls.filter((call) => call.startsWith("apt-get")), [
    "apt-get update",
    `${install} redis-server`,
    `${install} nginx`,
    `${install} haproxy`,
    // `.ci/run` also looks for Postgres outside the path.
    ...(hasPostgres ? [] : [`${install} postgresql`]),
  ]);
});

const FAILURES: Readonly<Record<string, [Outcome, Outcome, string]>> = {
  "a check fails": [
    ["Failed: lint\n\n6 passed, 1 failed", 1],
    TESTS_PASS,
    "956 passed, 1 failed",
  ],
  "tests fail": [
    CHECKS_PASS,
    ["FAILED | 948 passed (3000 steps) | 2 failed (3 steps) (6m)", 1],
    "955 passed, 2 failed",
  ],
  "a run fails after all tests passed": [
    CHECKS_PASS,
    ["ok | 950 passed | 0 failed (6m)\nerror: Uncaught", 1],
    "957 passed, 1 failed",
  ],
  "the tests don't start": [
    CHECKS_PASS,
    ["error: Module not found", 1],
    "7 passed, 1 failed",
  ],
  "the tests print no summary": [CHECKS_PASS, ["", 0], "7 passed, 1 failed"],
};

for (const [name, [check, test, expected]] of Object.entries(FAILURES)) {
  Deno.test(`.ci/run fails if ${name}`, async () => {
    const { code, lastLine } = await runCI(check, test);
    assertEquals([code, lastLine], [1, expected]);
  });
}
