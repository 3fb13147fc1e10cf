import ts from "typescript";

/** An import of a module. */
export interface Import {
  readonly specifier: string;
  /** `type` of its import attributes, if any. */
  readonly type: string | undefined;
}

/** The parts of a module's syntax that JSR checks before it accepts it. */
export interface ModuleSyntax {
  /** Static imports, and dynamic ones whose specifier is a literal. */
  readonly imports: readonly Import[];
  /** Whether it changes global types, as `declare global` does. */
  readonly changesGlobals: boolean;
}

/** Parses a module. */
export function parseModule(path: string, source: string): ModuleSyntax {
  const imports: Import[] = [];
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest);
  visit(file);
  return { imports, changesGlobals: file.statements.some(changesGlobals) };

  function visit(node: ts.Node): void {
    const found = importOf(node);
    if (found !== undefined) imports.push(found);
    ts.forEachChild(node, visit);
  }
}

function importOf(node: ts.Node): Import | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const { moduleSpecifier, attributes } = node;
    if (moduleSpecifier === undefined) return undefined;
    const specifier = (moduleSpecifier as ts.StringLiteral).text;
    const type = attributes?.elements.find(({ name }) => name.text === "type");
    return { specifier, type: (type?.value as ts.StringLiteral)?.text };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const literal = node.argument.literal as ts.StringLiteral;
    return { specifier: literal.text, type: undefined };
  }
  if (
    ts.isCallExpression(node) &&
    node.expression.kind === ts.SyntaxKind.ImportKeyword
  ) {
    const [argument] = node.arguments;
    return argument !== undefined && ts.isStringLiteralLike(argument)
      ? { specifier: argument.text, type: undefined }
      : undefined;
  }
  return undefined;
}

/**
 * Whether a statement is `declare global { … }` or `declare module "x" { … }`.
 */
function changesGlobals(statement: ts.Statement): boolean {
  return ts.isModuleDeclaration(statement) &&
    (ts.isStringLiteral(statement.name) ||
      (statement.flags & ts.NodeFlags.GlobalAugmentation) !== 0);
}
