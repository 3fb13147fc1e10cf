import { assertEquals, assertThrows } from "@std/assert";
import { checkPackage } from "./package_rules.ts";
import { PackageStore } from "./package_store.ts";
import { PublishError } from "./publish_error.ts";

const UPLOAD = { name: "@a/b", version: "1.0.0", config: "/jsr.json" };
const CONFIG = { ...UPLOAD, license: "MIT", exports: "./mod.ts" };

const store = new PackageStore();
store.create("@std/http");
await store.add({
  name: "@std/http",
  version: "1.4.0",
  exports: { "./cookie": "./cookie.js" },
  files: new Map(),
});

/** Checks a package of these files and its config. */
function check(files: Record<string, string>, config: object = CONFIG) {
  const all = { "/jsr.json": JSON.stringify(config), ...files };
  const entries = Object.entries(all).map(([path, text]) =>
    [path, new TextEncoder().encode(text)] as const
  );
  return checkPackage(UPLOAD, new Map(entries), store);
}

Deno.test("The registry accepts a package whose imports all resolve", () => {
  const { exports } = check({
    "/mod.ts": `
      import { a } from "./a.ts";
      import data from "./data.json" with { type: "json" };
      import { getCookies } from "jsr:@std/http@^1.0.0/cookie";
      import * as z from "npm:/zod@4/mini";
      export type Buffer = import("node:buffer").Buffer;
      const lazy = () => import("./a.ts");
    `,
    "/a.ts": "export const a = 1;",
    "/data.json": "{}",
  });
  assertEquals(exports, { ".": "./mod.ts" });
});

for (
  const [code, files, config] of [
    ["configFileExportsInvalid", {}, CONFIG],
    ["configFileNameMismatch", {}, { ...CONFIG, name: "@a/c" }],
    ["configFileVersionMismatch", {}, { ...CONFIG, version: "1.0.1" }],
    ["missingLicense", {}, { ...CONFIG, license: undefined }],
    ["invalidPath", { "/../etc/passwd": "" }, CONFIG],
    ["invalidPath", { "/.git/config": "" }, CONFIG],
    ["caseInsensitiveDuplicatePath", { "/a.ts": "", "/A.ts": "" }, CONFIG],
    ...([
      ["graphError", 'import "./missing.ts";'],
      ["graphError", 'import page from "./mod.ts" with { type: "text" };'],
      ["globalTypeAugmentation", "declare global {}"],
      ["globalTypeAugmentation", 'declare module "a" {}'],
      ["invalidExternalImport", 'import "@std/http/cookie";'],
      ["invalidExternalImport", 'export * from "https://localhost/a.ts";'],
      ["missingConstraint", 'await import("npm:zod");'],
      ["missingConstraint", 'import "jsr:@std/http/cookie";'],
      ["unresolvableJsrDependency", 'import "jsr:@std/http@^1.0.0/status";'],
      ["unresolvableJsrDependency", 'import "jsr:@std/fs@^1.0.0";'],
    ] as const).map(([code, source]) =>
      [code, { "/mod.ts": source }, CONFIG] as const
    ),
  ] as const
) {
  const what = "/mod.ts" in files ? files["/mod.ts"] : JSON.stringify(files);
  Deno.test(`The registry rejects a package: ${code} (${what})`, () => {
    const error = assertThrows(() => check(files, config), PublishError);
    assertEquals(error.code, code);
  });
}
