/**
 * Collects all regular expressions of the source from its syntax tree.
 *
 * @module
 */

import ts from "typescript";
import { fold, foldRegExp, isRegExp } from "./fold.ts";

/** A regular expression and its places in the source. */
export interface SourceRegex {
  /** `file:line` of each occurrence, relative to the project. */
  readonly places: readonly string[];
  /** The expression. */
  readonly regex: RegExp;
}

/** The result of {@linkcode collectRegexes}. */
export interface Collection {
  /** Each expression once. */
  readonly regexes: readonly SourceRegex[];
  /** Places of expressions that are built at run time. */
  readonly unknown: readonly string[];
}

/** The project's folder. */
const ROOT = new URL("../../", import.meta.url);

/** Folders without source: tests use their own text, and builds are generated. */
const SKIPPED = /^(tests|node_modules|reference|coverage|dist)$|^\./;

/** Methods that convert a text to a regular expression. */
const MATCHING = ["match", "matchAll", "search"];

/** Reads all source files of the project. */
export async function collectRegexes(): Promise<Collection> {
  const regexes = new Map<string, { regex: RegExp; places: string[] }>();
  const unknown: string[] = [];
  for await (const path of sources("")) {
    const text = await Deno.readTextFile(new URL(path, ROOT));
    for (const { place, regex } of readRegexes(path, text)) {
      const same = regexes.get(`${regex}`);
      if (regex === undefined) unknown.push(place);
      else if (same !== undefined) same.places.push(place);
      else regexes.set(`${regex}`, { regex, places: [place] });
    }
  }
  return { regexes: [...regexes.values()], unknown };
}

/** Reads one file. An expression that isn't constant is `undefined`. */
export function readRegexes(
  path: string,
  text: string,
): { readonly place: string; readonly regex: RegExp | undefined }[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return Array.from(regexesOf(file), ({ node, regex }) => {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    return { place: `${path}:${line + 1}`, regex };
  });
}

async function* sources(folder: string): AsyncGenerator<string> {
  const entries = await Array.fromAsync(Deno.readDir(new URL(folder, ROOT)));
  for (const { name, isDirectory } of entries.sort(byName)) {
    if (SKIPPED.test(name)) continue;
    if (isDirectory) yield* sources(`${folder}${name}/`);
    else if (/\.tsx?$/.test(name)) yield `${folder}${name}`;
  }
}

function byName(a: Deno.DirEntry, b: Deno.DirEntry): number {
  return a.name < b.name ? -1 : 1;
}

interface Found {
  readonly node: ts.Node;
  /** `undefined` if it isn't constant. */
  readonly regex: RegExp | undefined;
}

function* regexesOf(node: ts.Node): Generator<Found> {
  if (ts.isRegularExpressionLiteral(node)) {
    yield { node, regex: fold(node) as RegExp };
  } else if (isMade(node)) {
    yield { node, regex: foldRegExp(node) };
  } else if (isMatching(node)) {
    const pattern = fold(node.arguments[0]!);
    // A constant expression is collected at its declaration.
    if (!(pattern instanceof RegExp)) {
      yield {
        node,
        regex: pattern === undefined ? pattern : RegExp(`${pattern}`),
      };
    }
  } else if (isAlias(node)) {
    yield { node, regex: undefined };
  }
  const children: ts.Node[] = [];
  node.forEachChild((child) => void children.push(child));
  for (const child of children) yield* regexesOf(child);
}

/** `new RegExp(…)` or `RegExp(…)` */
function isMade(node: ts.Node): node is ts.NewExpression | ts.CallExpression {
  return (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
    isRegExp(node.expression);
}

/** `text.match(pattern)` */
function isMatching(node: ts.Node): node is ts.CallExpression {
  return ts.isCallExpression(node) && node.arguments.length === 1 &&
    ts.isPropertyAccessExpression(node.expression) &&
    MATCHING.includes(node.expression.name.text);
}

/** Whether `RegExp` is used as a value, so that it may be called elsewhere. */
function isAlias(node: ts.Node): boolean {
  if (!ts.isIdentifier(node) || node.text !== "RegExp") return false;
  // `globalThis.RegExp` counts as `RegExp`.
  const isMember = ts.isPropertyAccessExpression(node.parent) &&
    node.parent.name === node;
  const name = isMember ? node.parent : node;
  const { parent } = name;
  const isCalled = isMade(parent) && parent.expression === name;
  const isAsked = ts.isBinaryExpression(parent) &&
    parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword;
  const isEscape = parent.getText() === "RegExp.escape";
  return !isCalled && !isAsked && !isEscape && !ts.isTypeReferenceNode(parent);
}
