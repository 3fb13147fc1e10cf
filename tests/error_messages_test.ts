/**
 * The grammar of error messages. Each message in the source is one of three:
 *
 * - a mistake of a developer, or a failure: `Cannot create cache: maxEntries must
 *   be a positive integer, received -1`;
 * - an answer to a client: `Too many attempts to sign in; try again later`;
 * - a reason inside of another message: `the store has not answered for 1 s`.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import ts from "typescript";
import { readSources } from "./sources.ts";

/** Errors whose message is sent to the client. */
const ANSWERS = new Set(["AuthError", "RPCError", "BodyError"]);
/** Errors whose message becomes the reason inside of another message. */
const REASONS = new Set(["Error", "ProviderError", "RangeError"]);

/** The start of a reason: lower case, or a name. */
const REASON = /^[a-z]|^Deno KV /;

/** An error that the source creates. */
interface SourceError {
  /** Its place, such as `app/host.ts:12`. */
  readonly place: string;
  readonly type: string;
  /** Its message, with `…` for each expression. */
  readonly message: string;
}

const errors: SourceError[] = [];
for (const [path, lines] of await readSources()) {
  errors.push(...errorsOf(path, lines.join("\n")));
}

Deno.test("Each error message says what failed, in the form of its kind", () => {
  assert(errors.length > 120, `found only ${errors.length}`);
  const wrong = errors.filter(({ type, message }) => {
    if (message.startsWith("…")) return false;
    if (/^Cannot [a-z…]/.test(message)) {
      return !/: .|^Cannot (reach|export) /.test(message);
    }
    if (ANSWERS.has(type)) return !/^[A-Z]/.test(message);
    return !(REASONS.has(type) && REASON.test(message));
  });
  assertEquals(wrong.map(shown), []);
});

Deno.test("Each error message that names an expectation says what came instead", () => {
  const wrong = errors.filter(({ message }) =>
    /^Cannot .*: .*\bmust be\b/.test(message) &&
    !/\breceived\b|, as in |, (and )?…|, but /.test(message)
  );
  assertEquals(wrong.map(shown), []);
});

Deno.test("Error messages are short, plain, and end without a full stop", () => {
  const wrong = errors.filter(({ message }) =>
    /[.!]$|\n/.test(message) ||
    /\b(tells?|told|whose|whom|of which|is no|are no|gives|gave|dear)\b/
      .test(message) ||
    message.split(/[;:]/).some((part) => part.trim().split(/\s+/).length > 25)
  );
  assertEquals(wrong.map(shown), []);
});

function shown({ place, message }: SourceError): string {
  return `${place}: ${message}`;
}

/** Finds each `new SomeError("…")` of a file. */
function errorsOf(path: string, text: string): SourceError[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const found: SourceError[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isNewExpression(node) && /Error$/.test(node.expression.getText())) {
      const messages = (node.arguments ?? []).map(textOf)
        .filter((message) => message?.includes(" "));
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      for (const message of messages) {
        found.push({
          place: `${path}:${line + 1}`,
          type: node.expression.getText(),
          message: message!,
        });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Returns the text of a string, a template, or two that are joined. */
function textOf(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text +
      node.templateSpans.map(({ literal }) => `…${literal.text}`).join("");
  }
  if (ts.isBinaryExpression(node)) {
    return `${textOf(node.left) ?? "…"}${textOf(node.right) ?? "…"}`;
  }
  return undefined;
}
