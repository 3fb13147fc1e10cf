/**
 * The code in the documentation. `deno test --doc` checks and runs all
 * TypeScript, except blocks marked `ignore`. Such a block shows a library that
 * can't run here, or imports the block before it. It is checked against the
 * library's types, or against declarations in a folder next to this file.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { parseArguments } from "../../dev/arguments.ts";
import { exists, ROOT, startDeno } from "../helpers.ts";
import { section } from "../scaling/scaling_page.ts";
import { readPages } from "./pages.ts";
import { SETTINGS } from "./settings.ts";
import config from "../../deno.json" with { type: "json" };

const pages = await readPages();
const blocks = pages.flatMap(({ blocks }) => blocks);

/** Pages whose blocks are one app, which `layout_page_test.ts` runs. */
const APP = /^docs\/layout(-example)?\.md:/;
/** The files that `tools/check.ts` passes to `deno test --doc`. */
const RUN = /^(README\.md:|docs\/)/;
const TYPESCRIPT = ["ts", "tsx", "js", "jsx"];
/** Languages of blocks. Output and drawings have none. */
const LANGUAGES = [...TYPESCRIPT, "json", "sh", "sql", "nginx", "haproxy", ""];

Deno.test("Each code block has a known language and is in a file that the checks run", () => {
  const strange = blocks.filter(({ place, language, marks }) =>
    !LANGUAGES.includes(language) ||
    (TYPESCRIPT.includes(language) && !RUN.test(place)) ||
    marks.some((mark) => mark !== "ignore")
  );
  assertEquals(strange.map(({ place }) => place), []);
});

Deno.test("Code for other libraries, which isn't run, is type-checked", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const names: string[] = [];
    for (const { place, language, marks, text } of blocks) {
      if (!marks.includes("ignore") || APP.test(place)) continue;
      const name = `${place.replaceAll(/\W/g, "_")}.${language}`;
      // `export {}` makes blocks without an import modules as well.
      await Deno.writeTextFile(`${folder}/${name}`, `${text}\nexport {};\n`);
      names.push(name);
    }
    // The page's `main.ts` imports these files.
    const [shop = ""] = section("One app, any store");
    const [stores = ""] = section("Redis");
    await Deno.writeTextFile(`${folder}/shop.ts`, shop);
    await Deno.writeTextFile(`${folder}/stores.ts`, stores);
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify(SETTINGS));
    if (names.length === 0) return;
    await using child = startDeno(["check", ...names], folder);
    assertEquals(await child.code, 0, child.stderr);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("JSON blocks are valid JSON", () => {
  const isJSON = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const wrong = blocks.filter(({ language, text }) =>
    language === "json" && !isJSON(text)
  );
  assertEquals(wrong.map(({ place }) => place), []);
});

Deno.test("Commands in the documentation exist and accept the options shown", async () => {
  const wrong: string[] = [];
  for (const { path, blocks, snippets } of pages) {
    const lines = blocks.flatMap(({ language, text }) => {
      const lines = text.split("\n");
      if (language === "sh") return lines;
      return lines.filter((line) => line.startsWith("$ "));
    });
    const inSentences = snippets.filter((text) => /^(deno|npx) \w/.test(text));
    const inJSON = blocks.filter(({ language }) => language === "json")
      .flatMap(({ text }) => Object.values(JSON.parse(text).tasks ?? {}));
    for (const line of [...lines, ...inSentences, ...inJSON.map(String)]) {
      const problem = await findProblem(line);
      if (problem !== undefined) wrong.push(`${path}: ${line}: ${problem}`);
    }
  }
  assertEquals(wrong, []);
});

/** Programs whose command lines aren't checked. */
const OTHERS = [
  "bun",
  "bunx",
  "curl",
  "docker",
  "node",
  "npm",
  "npx",
  "openssl",
  "opentelemetry-bootstrap",
  "opentelemetry-instrument",
  "pip",
  "redis-server",
];

/** Names of files that the reader writes. */
const OF_THE_READER = ["main.ts"];

/** Returns the reason why a command would fail, if it would. */
async function findProblem(line: string): Promise<string | undefined> {
  const words = line.replace(/^\$ /, "").replace(/(^|\s)#.*/, "")
    .replace(/^([A-Z_]+=\S+ )+/, "")
    .replace(/^npx -y (?=deno )/, "").split(/\s+/).filter(Boolean);
  const [program, command, ...rest] = words;
  if (program === undefined || OTHERS.includes(program)) return;
  if (program !== "deno") return `is there a ${program}?`;
  const operands = rest.filter((word) => !word.startsWith("-"));
  const [subject = ""] = operands;
  switch (command) {
    case "task":
      return findProblemOfTask(rest);
    case "run": {
      if (rest.includes("--config") || OF_THE_READER.includes(subject)) return;
      if (subject.startsWith("jsr:")) {
        const args = rest.slice(rest.indexOf(subject) + 1);
        return subject.endsWith("/dev") ? findProblemOfDev(args) : undefined;
      }
      return await exists(subject) ? undefined : "no such file";
    }
    case "add":
    case "bundle":
    case "compile":
    case "doc":
    case "fmt":
    case "lint":
    case "publish":
    case "serve":
    case "test":
    case undefined:
      return;
    default:
      return "a command that this test doesn't know";
  }
}

function findProblemOfTask([name = "", ...args]: string[]) {
  const tasks: Readonly<Record<string, unknown>> = config.tasks;
  if (!Object.hasOwn(tasks, name)) return "no such task";
  return name === "dev" ? findProblemOfDev(["main.ts", ...args]) : undefined;
}

function findProblemOfDev(args: readonly string[]): string | undefined {
  try {
    parseArguments(args.length === 0 ? ["main.ts"] : args);
  } catch (error) {
    return (error as Error).message;
  }
}

Deno.test("JSR imports in the documentation are exports of this version", async () => {
  const wrong: string[] = [];
  const dev = await Deno.readTextFile(new URL("dev.ts", ROOT));
  const [major, minor] = config.version.split(".");
  for (const { path, text } of [...pages, { path: "dev.ts", text: dev }]) {
    for (
      const [whole, version, entry = ""] of text.matchAll(
        /jsr:@quartet\/kit(?:@([^/\s"'`]*))?(\/[\w/-]*)?/g,
      )
    ) {
      const fits = version === undefined || version === `^${major}.${minor}`;
      if (!fits || !Object.hasOwn(config.exports, `.${entry}`)) {
        wrong.push(`${path}: ${whole}`);
      }
    }
  }
  assertEquals(wrong, []);
});
