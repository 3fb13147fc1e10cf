import { assertEquals } from "@std/assert";
import { exists, ROOT } from "../helpers.ts";
import { readPages } from "./pages.ts";

const pages = await readPages();
const anchorsOf = new Map(pages.map(({ path, anchors }) => [path, anchors]));

Deno.test("Links in the documentation lead to an existing file and heading", async () => {
  const broken: string[] = [];
  for (const { path, links } of pages) {
    for (const link of links) {
      if (!await leadsSomewhere(path, link)) broken.push(`${path}: ${link}`);
    }
  }
  assertEquals(broken, []);
});

/** Checks only the syntax of external links: tests don't use the network. */
async function leadsSomewhere(from: string, link: string): Promise<boolean> {
  if (/^[a-z]+:/.test(link)) return /^https?:/.test(link) && URL.canParse(link);
  const target = new URL(link, new URL(from, ROOT));
  const path = decodeURIComponent(target.href.split("#")[0]!)
    .slice(decodeURIComponent(ROOT.href).length);
  if (!target.href.startsWith(ROOT.href)) return false;
  const anchor = decodeURIComponent(target.hash.slice(1));
  if (anchor !== "") return anchorsOf.get(path)?.has(anchor) ?? false;
  return await exists(path);
}

Deno.test("Files and folders named in the documentation exist", async () => {
  const missing: string[] = [];
  const ignored = await Deno.readTextFile(new URL(".gitignore", ROOT));
  const made = ignored.split("\n").map((line) => line.replace(/^\//, ""));
  for (const { path, snippets } of pages) {
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    for (const name of snippets.filter(isOfTheRepository)) {
      if (made.includes(name)) continue;
      if (await exists(name) || await exists(folder + name)) continue;
      // The pages of promises name test files relative to tests/.
      if (/security-tests/.test(path) && await exists(`tests/${name}`)) {
        continue;
      }
      missing.push(`${path}: ${name}`);
    }
  }
  assertEquals(missing, []);
});

/** `tests/rpc/types_test.ts`, `.ci/run` or `bench/`; not `main.ts`, `text/html`. */
function isOfTheRepository(snippet: string): boolean {
  return /^\.?[\w-]+(\/[\w-]+)*(\/|\/[\w-]+\.[\w.]+)$/.test(snippet) ||
    /^\.\w+\/\w+$/.test(snippet);
}

Deno.test("Pages of the documentation have at most 400 lines", () => {
  const long = pages.filter(({ text }) =>
    text.trimEnd().split("\n").length > 400
  );
  assertEquals(long.map(({ path }) => path), []);
});

Deno.test("Each page of docs/ is reached from the README", () => {
  const known = new Set<string>(["README.md"]);
  for (const path of known) {
    const page = pages.find((page) => page.path === path);
    for (const link of page?.links ?? []) {
      if (/^[a-z]+:/.test(link)) continue;
      const { pathname } = new URL(link, new URL(path, "file:///"));
      if (pathname.endsWith(".md")) known.add(pathname.slice(1));
    }
  }
  const unknown = pages.filter(({ path }) =>
    path.startsWith("docs/") && !known.has(path)
  );
  assertEquals(unknown.map(({ path }) => path), []);
});

Deno.test("docs/README.md lists each page of docs/", () => {
  const index = pages.find(({ path }) => path === "docs/README.md")!;
  const listed = new Set(index.links.map((link) => link.split("#")[0]));
  const missing = pages.map(({ path }) => path)
    .filter((path) => /^docs\/[^/]+$/.test(path) && path !== index.path)
    .filter((path) => !listed.has(path.slice("docs/".length)));
  assertEquals(missing, []);
});
