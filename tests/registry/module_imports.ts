import ts from "typescript";

/** What a module imports, and how. */
export interface Import {
  readonly specifier: string;
  /** The `type` of its import attributes, if it has any. */
  readonly type: string | undefined;
}

/** What JSR reads of a module before it takes it. */
export interface ModuleSyntax {
  /** Those whose specifier is written out, at whatever time they happen. */
  readonly imports: readonly Import[];
  /** Whether it declares types for others, as `declare global` does. */
  readonly changesGlobals: boolean;
}

/** Reads the syntax of a module. */
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

/** `declare global { … }` and `declare module "x" { … }`. */
function changesGlobals(statement: ts.Statement): boolean {
  return ts.isModuleDeclaration(statement) &&
    (ts.isStringLiteral(statement.name) ||
      (statement.flags & ts.NodeFlags.GlobalAugmentation) !== 0);
}
