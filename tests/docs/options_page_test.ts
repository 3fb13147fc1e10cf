/**
 * Each option of the public API is described on a page for users. Here
 * docs/api.txt is the list of what is public: another test keeps it up to date.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import ts from "typescript";
import { ROOT } from "../helpers.ts";
import { readPages } from "./pages.ts";

/** A declaration of the public API. */
interface Declaration {
  readonly name: string;
  readonly text: string;
  /** Whether it exists at run time, as functions and classes do. */
  readonly isValue: boolean;
  /** The names of its own options, if it declares any. */
  readonly options: readonly string[];
}

/** The names of types that hold options. */
const OPTIONS = /(Options|Config)$/;

const declarations = readDeclarations(
  await Deno.readTextFile(new URL("docs/api.txt", ROOT)),
);
/** The code of each page for users, in one text. */
const pages = (await readPages())
  .filter(({ path }) => /^(README\.md|docs\/[^/]+\.md)$/.test(path))
  .map(({ path, blocks, snippets }) => ({
    path,
    code: [...blocks.map(({ text }) => text), ...snippets].join("\n"),
  }));

Deno.test("Each option appears on a page that names what takes it", () => {
  const withOptions = declarations.filter(({ options }) => options.length > 0);
  assert(withOptions.length > 70, `found only ${withOptions.length}`);
  const missing: string[] = [];
  for (const { name, options } of withOptions) {
    const takers = takersOf(name);
    const related = pages.filter(({ code }) =>
      takers.length === 0 || takers.some((taker) => hasWord(code, taker))
    );
    for (const option of options) {
      if (!related.some(({ code }) => hasWord(code, option))) {
        missing.push(`${name}.${option} (${takers.join(", ")})`);
      }
    }
  }
  assertEquals(missing, []);
});

function readDeclarations(text: string): Declaration[] {
  const found: Declaration[] = [];
  for (const block of text.split(/\n{2,}/)) {
    const { statements } = ts.createSourceFile(
      "api.ts",
      block,
      ts.ScriptTarget.ESNext,
    );
    const statement = statements[0];
    if (statement === undefined) continue;
    const name = nameOf(statement);
    if (name === undefined) continue;
    const isInterface = ts.isInterfaceDeclaration(statement);
    found.push({
      name,
      text: block,
      isValue: !isInterface && !ts.isTypeAliasDeclaration(statement),
      options: isInterface && OPTIONS.test(name)
        ? statement.members.map(({ name }) => (name as ts.Identifier).text)
        : [],
    });
  }
  return found;
}

function nameOf(statement: ts.Statement): string | undefined {
  if (ts.isVariableStatement(statement)) {
    const { name } = statement.declarationList.declarations[0]!;
    return ts.isIdentifier(name) ? name.text : undefined;
  }
  return (statement as ts.DeclarationStatement).name?.text;
}

/**
 * Returns the functions and classes that take a type, also inside options.
 * Without one, methods take it: then each page counts.
 */
function takersOf(type: string): string[] {
  const types = new Set([type]);
  const takers = new Set<string>();
  for (const known of types) {
    for (const { name, text, isValue } of declarations) {
      if (name === known || !hasWord(text, known)) continue;
      // Users know `Tracer`, the interface, rather than `TracerImpl`.
      if (isValue && !name.endsWith("Impl")) takers.add(name);
      else if (OPTIONS.test(name)) types.add(name);
    }
  }
  return [...takers];
}

function hasWord(text: string, word: string): boolean {
  return new RegExp(`(?<![\\w$])${word}(?![\\w$])`).test(text);
}
