/**
 * Rules for the tests themselves. Files are named after a behaviour and cases
 * are short. Each case contains an assertion, or a comment about how it can
 * fail.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import ts from "typescript";

/** Maximum lines of a case's function. */
const MAX_LINES = 150;
/** Words that name the occasion of a test instead of its behaviour. */
const HISTORY =
  /(?:^|_)(?:review|regressions?|issues?|bugs?|bugfix|fix(?:es)?|findings?|misc|various)(?:_|\d|$)/;
/** Functions that fail a case, such as `assertEquals`, `refuses` and `waitFor`. */
const ASSERTION =
  /^(?:assert|expect|check|refuse|until|waitFor|fail|equal|deepEqual|strictEqual|throws|rejects)/;

type Functions = ReadonlyMap<string, ts.SignatureDeclaration>;

/** Returns the rules that a test file breaks. */
function problemsOf(path: string, text: string): string[] {
  const name = path.split("/").at(-1)!.replace(/(?:_test)?\.ts$/, "");
  const problems = HISTORY.test(name) ? [`${path}: named after history`] : [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const functions = functionsOf(source);
  for (const call of casesOf(source, functions)) {
    const place = `${path}:${lineOf(source, call.getStart())}`;
    if (nameOf(call) === "Deno.test.only") {
      problems.push(`${place}: runs alone`);
    }
    const body = bodyOf(call, functions);
    if (body === undefined) {
      problems.push(`${place}: its function isn't found`);
      continue;
    }
    const lines = lineOf(source, body.end) - lineOf(source, body.getStart()) +
      1;
    if (lines > MAX_LINES) problems.push(`${place}: ${lines} lines`);
    if (!asserts(body, functions) && !hasComment(call)) {
      problems.push(`${place}: neither an assertion nor a comment`);
    }
  }
  return problems;
}

/** Returns the calls of `Deno.test()` and of functions that call it. */
function casesOf(
  source: ts.SourceFile,
  functions: Functions,
): ts.CallExpression[] {
  const calls = Map.groupBy(callsOf(source), nameOf);
  const names = new Set(["Deno.test", "Deno.test.only", "Deno.test.ignore"]);
  const cases: ts.CallExpression[] = [];
  // The loop also visits names that it adds here.
  for (const name of names) {
    for (const call of calls.get(name) ?? []) {
      const wrapper = wrapperOf(call, functions);
      if (wrapper === undefined) cases.push(call);
      else names.add(wrapper);
    }
  }
  return cases;
}

const nameOf = ({ expression }: ts.CallExpression) => expression.getText();

/** Returns the name of the function whose parameter a case runs, if any. */
function wrapperOf(
  call: ts.CallExpression,
  functions: Functions,
): string | undefined {
  const used = new Set([
    ...callsOf(call).map(nameOf),
    ...call.arguments.slice(1).map((each) => each.getText()),
  ]);
  for (const [name, { pos, end, parameters }] of functions) {
    const isAround = pos <= call.pos && call.end <= end;
    const runs = parameters.some((each) => used.has(each.name.getText()));
    if (isAround && runs) return name;
  }
  return undefined;
}

/** Returns the functions of a file by name. */
function functionsOf(source: ts.SourceFile): Functions {
  const functions = new Map<string, ts.SignatureDeclaration>();
  const visit = (node: ts.Node) => {
    const value = ts.isVariableDeclaration(node) ? node.initializer : node;
    const isFunction = value !== undefined &&
      (ts.isFunctionDeclaration(value) || ts.isArrowFunction(value));
    const { name } = node as ts.NamedDeclaration;
    if (isFunction && name !== undefined) functions.set(name.getText(), value);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return functions;
}

function callsOf(node: ts.Node): ts.CallExpression[] {
  const calls: ts.CallExpression[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node)) calls.push(node);
    ts.forEachChild(node, visit);
  };
  visit(node);
  return calls;
}

/** Returns the function of a case: an argument, or the `fn` of one. */
function bodyOf(
  call: ts.CallExpression,
  functions: Functions,
): ts.Node | undefined {
  for (const argument of call.arguments) {
    if (ts.isFunctionLike(argument)) return argument;
    if (ts.isIdentifier(argument) && functions.has(argument.text)) {
      return functions.get(argument.text);
    }
    // As in `Deno.test(name, unlessStalled(fn))`.
    const inner = ts.isCallExpression(argument) && bodyOf(argument, functions);
    if (inner) return inner;
    if (!ts.isObjectLiteralExpression(argument)) continue;
    const fn = argument.properties.find((each) =>
      each.name?.getText() === "fn"
    );
    if (fn !== undefined) return fn;
  }
  return undefined;
}

/**
 * Whether a function asserts, directly or through a function of the same file.
 */
function asserts(
  body: ts.Node,
  functions: Functions,
  seen = new Set<ts.Node>(),
): boolean {
  seen.add(body);
  return callsOf(body).some((call) => {
    const name = nameOf(call).split(".").at(-1)!;
    if (ASSERTION.test(name)) return true;
    const called = functions.get(name);
    return called !== undefined && !seen.has(called) &&
      asserts(called, functions, seen);
  });
}

/** Whether there is a comment within a case or right before it. */
function hasComment(call: ts.CallExpression): boolean {
  const text = call.parent.getFullText();
  return /(?:^|\s)(?:\/\/|\/\*)(?!\s*deno-)/m.test(text);
}

function lineOf(source: ts.SourceFile, position: number): number {
  return source.getLineAndCharacterOfPosition(position).line + 1;
}

async function* filesOf(folder: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesOf(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts")) yield new URL(name, folder);
  }
}

Deno.test("Test files are named after behaviour, and their cases are short and assert something", async () => {
  const root = new URL("./", import.meta.url);
  const problems: string[] = [];
  for await (const file of filesOf(root)) {
    const path = file.href.slice(root.href.length);
    problems.push(...problemsOf(path, await Deno.readTextFile(file)));
  }
  assertEquals(problems.sort(), []);
});

Deno.test("The rules reject files named after history, long cases and cases without assertions", () => {
  const long = "\n".repeat(MAX_LINES);
  const cases: [path: string, text: string, problems: string[]][] = [
    ["a_test.ts", "Deno.test('a', () => assertEquals(1, 1));", []],
    ["a_test.ts", "Deno.test('a', () => { run(); });", [
      "a_test.ts:1: neither an assertion nor a comment",
    ]],
    ["a_test.ts", "Deno.test('a', () => {\n// It compiles.\n run(); });", []],
    ["a_test.ts", "/** It compiles. */\nDeno.test('a', () => run());", []],
    ["a_test.ts", "Deno.test('a', check); const check = () => t.assert();", []],
    [
      "a_test.ts",
      "Deno.test('a', () => b()); function b() { equal(1, 1); }",
      [],
    ],
    ["a_test.ts", "Deno.test({ name: 'a', fn() { fetch('http://a'); } });", [
      "a_test.ts:1: neither an assertion nor a comment",
    ]],
    [
      "a_test.ts",
      "const test = (fn) => Deno.test('a', () => fn());\ntest(() => run());",
      ["a_test.ts:2: neither an assertion nor a comment"],
    ],
    ["a_test.ts", "Deno.test('a', twice(() => { fail(); }));", []],
    ["a_test.ts", "Deno.test('a', elsewhere);", [
      "a_test.ts:1: its function isn't found",
    ]],
    ["a_test.ts", "Deno.test.only('a', () => assert(true));", [
      "a_test.ts:1: runs alone",
    ]],
    ["a_test.ts", `Deno.test("a", () => {${long}assert(true); });`, [
      "a_test.ts:1: 151 lines",
    ]],
    ["rpc/review_test.ts", "", ["rpc/review_test.ts: named after history"]],
    ["issue_13_test.ts", "", ["issue_13_test.ts: named after history"]],
    ["issued_tokens_test.ts", "", []],
    ["ground_test.ts", "", []],
  ];
  for (const [path, text, problems] of cases) {
    assertEquals(problemsOf(path, text), problems, text);
  }
});
