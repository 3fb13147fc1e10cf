/**
 * The package on Node and Bun, installed through npm in JSR's form, without any
 * other file of this repository.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import * as esbuild from "esbuild";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readProject } from "../../../tools/project_config.ts";
import { ROOT } from "../../helpers.ts";
import { runOk } from "./command.ts";
import { ON_BUN, ON_NODE, reasonsOf } from "./differences.ts";
import { driveBun } from "./drive_bun.ts";
import { assertCompanionWorks } from "./drive_companion.ts";
import {
  assertBodyFailureIsPrinted,
  assertConnectionGoesOn,
  assertDevReports,
  assertDevServesBunFile,
  assertDevWorks,
} from "./drive_dev.ts";
import { driveServer } from "./drive_server.ts";
import { packForNpm } from "./pack.ts";
import { versionsOf } from "./pins.ts";
import { createProject } from "./project.ts";
import type { Project } from "./project.ts";
import { serveRegistry } from "./registry.ts";
import { runSuites } from "./run_suites.ts";
import { getRuntimes } from "./runtimes.ts";
import type { Runtimes } from "./runtimes.ts";
import { startServer } from "./start_server.ts";
import { bundle, bundled, bundleSuites, PACKAGES } from "./suites.ts";
import { summarize } from "./summarize.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

/** The runtimes and their package managers. */
const RUNTIMES = [
  {
    name: "Node",
    installer: "npm",
    program: ({ node }: Runtimes) => node,
    main: "node_main",
    differences: ON_NODE,
    dependencies: {
      ...versionsOf([...PACKAGES, "typescript"]),
      "@types/node": "22.20.5",
      "@types/ws": "8.18.2",
    },
    // Number of tests on the oldest supported version: detects lost tests.
    atLeast: 1_100,
  },
  {
    name: "Bun",
    installer: "bun",
    program: ({ bun }: Runtimes) => bun,
    main: "bun_main",
    differences: ON_BUN,
    dependencies: versionsOf(PACKAGES),
    atLeast: 1_100,
  },
] as const;

const folder = await Deno.makeTempDir({ prefix: "quartet_npm_" });
const folderOf = async (name: string) => {
  const path = join(folder, name);
  await Deno.mkdir(path);
  return path;
};
const [packages, runtimes] = await Promise.all([
  packForNpm(await folderOf("pack")),
  getRuntimes(await folderOf("runtimes")),
]);
const registry = await serveRegistry(packages);
const missing = typeof runtimes === "string" ? runtimes : undefined;
if (missing !== undefined) console.warn(`Ignored: ${missing}`);

const testOptions = { ignore: missing !== undefined };

/** Programs in `consumer/`. */
const CONSUMERS = [
  "node_main",
  "bun_main",
  "bun_plain",
  "entry_points",
  "needs_deno",
];

const projects = new Map<string, Project>();

Deno.test.beforeAll(async () => {
  if (typeof runtimes === "string") return;
  await Promise.all(RUNTIMES.map(async (runtime) => {
    const { name, installer, dependencies } = runtime;
    const project = {
      folder: join(folder, installer),
      program: runtime.program(runtimes),
    };
    await createProject(
      project.folder,
      registry.url,
      installer,
      runtimes,
      dependencies,
    );
    await bundle(
      CONSUMERS.map((it) => join(here, "consumer", `${it}.ts`)),
      project.folder,
      project.folder,
    );
    projects.set(name, project);
  }));
});

Deno.test.afterAll(async () => {
  await esbuild.stop();
  await registry[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
});

/** Returns the path of a program of `consumer/` in a project. */
function consumer({ folder }: Project, name: string): string {
  return join(folder, bundled(join(here, "consumer", `${name}.ts`)));
}

async function printedBy(
  project: Project,
  name: string,
  ...args: string[]
): Promise<Record<string, unknown>> {
  const { folder, program } = project;
  const file = consumer(project, name);
  return JSON.parse(await runOk(program, [file, ...args], { cwd: folder }));
}

for (const { name, main } of RUNTIMES) {
  Deno.test(
    `Each entry point can be imported on ${name}`,
    testOptions,
    async () => {
      const { exports } = JSON.parse(
        await Deno.readTextFile(new URL("deno.json", ROOT)),
      );
      const entries = Object.keys(exports).map((it) =>
        `@quartet/kit${it.slice(1)}`
      );
      const found = await printedBy(
        projects.get(name)!,
        "entry_points",
        ...entries,
      );
      for (const entry of entries) {
        const here = Object.keys(await import(import.meta.resolve(entry)))
          .sort();
        assertEquals(found[entry], here, entry);
      }
    },
  );

  for (const flags of [[], ["--watch"]]) {
    const command = ["dev", ...flags].join(" ");
    Deno.test(
      `${command} traces an app on ${name}, and on SIGTERM writes --export and ends`,
      testOptions,
      () => assertDevWorks(projects.get(name)!, flags),
    );
  }

  Deno.test(
    `dev --trace on ${name} names causes with their lines, serves the panel and assistants, and keeps traces`,
    testOptions,
    () => assertCompanionWorks(projects.get(name)!),
  );

  Deno.test(
    `dev on ${name} reports an entry that throws or is no JavaScript, and a port in use`,
    testOptions,
    () => assertDevReports(projects.get(name)!),
  );
  Deno.test(
    `dev on ${name} prints the error of a body that has begun`,
    testOptions,
    () => assertBodyFailureIsPrinted(projects.get(name)!),
  );

  Deno.test(
    `Functions that need Deno name the alternative on ${name}`,
    testOptions,
    async () => {
      const messages = await printedBy(projects.get(name)!, "needs_deno");
      const serve =
        "Cannot serve: Deno.serve is not available in this runtime; use toNode(app) with a server of Node, or toBun(app) with Bun.serve";
      assertEquals(messages["serve()"], serve);
      assertEquals(messages["app.serve()"], serve);
      assertEquals(
        messages["upgrade()"],
        'Cannot open a WebSocket: Deno.upgradeWebSocket is not available in this runtime; on Node, pass webSocketServer to toNode(), and call server.on("upgrade", upgrade); on Bun, serve with toBun(); pass on their request object unchanged',
      );
      for (const store of ["createKvStore()", "createKvSessionStore()"]) {
        assertMatch(
          String(messages[store]),
          /kv must be a database from Deno\.openKv\(\)/,
        );
      }
    },
  );

  Deno.test(
    `A server on ${name} supports all four modules, and finishes a request before it shuts down`,
    testOptions,
    async () => {
      const project = projects.get(name)!;
      await using server = await startServer(
        project.program,
        project.folder,
        consumer(project, main),
      );
      await driveServer(server);
      const slow = fetch(`${server.origin}/slow`);
      while (!server.printed.includes("slow request")) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assertEquals(await server.stop(), 0, server.printed);
      assertMatch(server.printed, /Closed/);
      assertEquals(await (await slow).json(), { isDatabaseOpen: true });
    },
  );
}

Deno.test(
  "Importing the package on an old version of Node names the version that it needs",
  testOptions,
  async () => {
    const { folder, program } = projects.get("Node")!;
    const old = `delete Promise.withResolvers;
      Object.defineProperty(process.versions, "node", { value: "20.20.2" });
      await import("@quartet/kit/data").catch(({ message }) => console.log(message));`;
    const args = ["--input-type=module", "--eval", old];
    assertEquals(
      await runOk(program, args, { cwd: folder }),
      "Cannot load @quartet/kit: Node must be version 22 or newer, received 20.20.2\n",
    );
  },
);

// Bun closes such a connection.
Deno.test(
  "dev on Node goes on with a connection whose body the app hasn't read",
  testOptions,
  () => assertConnectionGoesOn(projects.get("Node")!),
);

Deno.test(
  "The RPC plugin upgrades with Bun's own server, and slow readers pause its streams",
  testOptions,
  async () => {
    const project = projects.get("Bun")!;
    await using server = await startServer(
      project.program,
      project.folder,
      consumer(project, "bun_plain"),
    );
    await driveBun(server);
    await server.stop();
    assertMatch(server.printed, /Closed/);
  },
);

Deno.test(
  "dev serves the file that Bun serves by itself",
  testOptions,
  () => assertDevServesBunFile(projects.get("Bun")!),
);

Deno.test(
  "TypeScript accepts the declarations in a user's project",
  testOptions,
  async () => {
    const { folder } = projects.get("Node")!;
    const { node } = runtimes as Runtimes;
    await Deno.copyFile(
      join(here, "consumer", "types.ts"),
      join(folder, "types.ts"),
    );
    const { exports } = await readProject();
    await Deno.writeTextFile(
      join(folder, "entries.ts"),
      Object.keys(exports).map((path, i) =>
        `export * as entry${i} from "@quartet/kit${path.slice(1)}";\n`
      ).join(""),
    );
    const withoutPages = ["--lib", "esnext", "--types", "node"];
    for (
      const args of [["types.ts"], [...withoutPages, "entries.ts"]]
    ) {
      // Throws if TypeScript finds an error.
      await runOk(node, [
        join(folder, "node_modules", "typescript", "bin", "tsc"),
        "--noEmit",
        "--strict",
        "--exactOptionalPropertyTypes",
        "--target",
        "esnext",
        "--module",
        "nodenext",
        ...args,
      ], { cwd: folder });
    }
  },
);

Deno.test(
  "The tests of the modules pass on Node and Bun",
  testOptions,
  async (t) => {
    const ran = await Promise.all(
      RUNTIMES.map(async ({ name, differences }) => {
        const { folder, program } = projects.get(name)!;
        const suites = await bundleSuites(folder);
        const reasons = reasonsOf(differences);
        const results = await runSuites(program, suites, reasons, folder);
        return { suites, reasons, results };
      }),
    );
    for (const [i, { name, atLeast }] of RUNTIMES.entries()) {
      const { suites, reasons, results } = ran[i]!;
      await t.step(name, () => {
        console.log(summarize(name, results, suites.leftOut));
        const failed = results.filter(({ state }) => state === "failed");
        const report = failed.map(({ path, name, reason }) =>
          `${reason}\n${path}: ${name}`
        );
        assertEquals(failed.length, 0, report.join("\n\n"));
        const names = new Set(results.map(({ name }) => name));
        assertEquals(
          [...reasons.keys()].filter((it) => !names.has(it)),
          [],
          "differences.ts names tests that don't exist",
        );
        const passed = results.filter(({ state }) => state === "passed");
        assert(passed.length >= atLeast, `only ${passed.length} tests ran`);
      });
    }
  },
);
