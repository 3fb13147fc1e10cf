import ts from "typescript";

/** The value of a constant expression. */
export type Constant = string | number | RegExp;

/**
 * Evaluates an expression of literals, templates and constants of the same
 * file, such as `` new RegExp(`^[${NAME}]{1,${MAX}}$`) ``.
 */
export function fold(node: ts.Expression): Constant | undefined {
  if (ts.isParenthesizedExpression(node)) return fold(node.expression);
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text.replaceAll("_", ""));
  if (ts.isRegularExpressionLiteral(node)) return parse(node.text);
  if (ts.isTemplateExpression(node)) return foldTemplate(node, "text");
  if (ts.isTaggedTemplateExpression(node)) return foldRaw(node);
  if (ts.isIdentifier(node)) return foldName(node);
  if (ts.isBinaryExpression(node)) return foldSum(node);
  if (ts.isPropertyAccessExpression(node)) {
    const regex = fold(node.expression);
    const isSource = regex instanceof RegExp && node.name.text === "source";
    return isSource ? regex.source : undefined;
  }
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
    return isRegExp(node.expression) ? foldRegExp(node) : undefined;
  }
  return undefined;
}

/** Whether an expression is the global `RegExp`. */
export function isRegExp(node: ts.Expression): boolean {
  return ts.isIdentifier(node) && node.text === "RegExp" ||
    ts.isPropertyAccessExpression(node) && node.name.text === "RegExp";
}

/** Evaluates `new RegExp(…)` and `RegExp(…)`. */
export function foldRegExp(
  { arguments: args = ts.factory.createNodeArray() }:
    | ts.NewExpression
    | ts.CallExpression,
): RegExp | undefined {
  const [pattern, flags] = args.map(fold);
  if (pattern === undefined || args.length > 2) return undefined;
  if (args.length === 2 && typeof flags !== "string") return undefined;
  return pattern instanceof RegExp
    ? new RegExp(pattern, flags as string | undefined)
    : new RegExp(String(pattern), flags as string | undefined);
}

function parse(literal: string): RegExp {
  const end = literal.lastIndexOf("/");
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

function foldTemplate(
  { head, templateSpans }: ts.TemplateExpression,
  part: "text" | "rawText",
): string | undefined {
  let text = head[part]!;
  for (const { expression, literal } of templateSpans) {
    const value = fold(expression);
    if (value === undefined || value instanceof RegExp) return undefined;
    text += value + literal[part]!;
  }
  return text;
}

function foldRaw(
  { tag, template }: ts.TaggedTemplateExpression,
): string | undefined {
  if (tag.getText() !== "String.raw") return undefined;
  return ts.isTemplateExpression(template)
    ? foldTemplate(template, "rawText")
    : template.rawText;
}

function foldSum(node: ts.BinaryExpression): string | undefined {
  if (node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const left = fold(node.left);
  const right = fold(node.right);
  return typeof left === "string" && typeof right === "string"
    ? left + right
    : undefined;
}

/** Returns the value of a top-level `const` of the same file. */
function foldName(name: ts.Identifier): Constant | undefined {
  for (const statement of name.getSourceFile().statements) {
    if (!ts.isVariableStatement(statement)) continue;
    const { declarationList } = statement;
    if ((declarationList.flags & ts.NodeFlags.Const) === 0) continue;
    const found = declarationList.declarations.find((each) =>
      ts.isIdentifier(each.name) && each.name.text === name.text
    );
    if (found?.initializer) return fold(found.initializer);
  }
  return undefined;
}
