/**
 * Describes the public API as one text: each entry point with the declarations
 * that it exports, without comments. So each change of the API shows in review.
 *
 * @module
 */

import ts from "typescript";

/** A declaration that an entry point exports. */
interface Exported {
  readonly name: string;
  /** The file of the declaration, relative to the root. */
  readonly file: string;
  /** The declaration's name in that file. */
  readonly original: string;
  readonly isType: boolean;
}

/**
 * Returns the text.
 *
 * @param root The folder that paths are relative to.
 * @param entries The file of each entry point, by the name that users import.
 */
export async function apiText(
  root: URL,
  entries: Readonly<Record<string, string>>,
): Promise<string> {
  const reader = new DeclarationReader(root);
  const homes = new Map<string, string>();
  const sections = new Map<string, string>();
  // A module comes before what repeats its names: its parts, and the root.
  const names = Object.keys(entries).toSorted((a, b) => rank(a) - rank(b));
  for (const entry of names) {
    const own: string[] = [];
    const repeated: string[] = [];
    const exported = await reader.exportsOf(entries[entry]!);
    exported.sort((a, b) => a.name < b.name ? -1 : 1);
    for (const { name, file, original, isType } of exported) {
      const key = `${file}#${original}`;
      const home = homes.get(key);
      if (home === undefined) {
        homes.set(key, entry);
        own.push(await reader.textOf(file, original, name));
      } else repeated.push(`${isType ? "type " : ""}${name} (${home})`);
    }
    const values = exported.filter(({ isType }) => !isType).length;
    sections.set(
      entry,
      [
        `# ${entry}`,
        `${values} at run time, ${exported.length - values} types`,
        ...(repeated.length > 0 ? [repeated.join("\n")] : []),
        ...own,
      ].join("\n\n"),
    );
  }
  const ordered = Object.keys(entries).map((entry) => sections.get(entry));
  return `${ordered.join("\n\n\n")}\n`;
}

/** Modules, such as `@quartet/kit/app`, come first; the root comes last. */
function rank(entry: string): number {
  const slashes = entry.split("/").length - 1;
  return slashes === 1 ? Infinity : slashes;
}

/** Reads declarations, each file once. */
class DeclarationReader {
  readonly #root: URL;
  readonly #files = new Map<string, Promise<ts.SourceFile>>();

  constructor(root: URL) {
    this.#root = root;
  }

  /** Returns what a file exports, following its re-exports. */
  async exportsOf(path: string): Promise<Exported[]> {
    const exported: Exported[] = [];
    const starred: Exported[] = [];
    const source = await this.#read(path);
    for (const statement of source.statements) {
      if (!ts.isExportDeclaration(statement)) {
        const isType = ts.isInterfaceDeclaration(statement) ||
          ts.isTypeAliasDeclaration(statement);
        for (const name of namesOf(statement)) {
          const other = exported.findIndex((other) => other.name === name);
          if (other === -1) {
            exported.push({ name, file: path, original: name, isType });
          } else if (!isType) {
            // One name may have a type and a value.
            exported[other] = { ...exported[other]!, isType };
          }
        }
        continue;
      }
      const { exportClause, moduleSpecifier } = statement;
      if (exportClause === undefined) {
        const all = await this.exportsOf(resolve(path, moduleSpecifier));
        const { isTypeOnly } = statement;
        starred.push(
          ...all.map((one) => isTypeOnly ? { ...one, isType: true } : one),
        );
      } else if (ts.isNamedExports(exportClause)) {
        for (const element of exportClause.elements) {
          const { name, propertyName } = element;
          const isTypeOnly = statement.isTypeOnly || element.isTypeOnly;
          const original = (propertyName ?? name).text;
          const from = moduleSpecifier ?? importOf(source, original);
          if (from === undefined) {
            exported.push({
              name: name.text,
              file: path,
              original,
              isType: isTypeOnly,
            });
            continue;
          }
          const inner = await this.exportsOf(resolve(path, from));
          const found = inner.find((other) => other.name === original);
          if (found === undefined) {
            throw new Error(
              `${path} exports ${original}, which isn't declared`,
            );
          }
          exported.push({
            ...found,
            name: name.text,
            isType: found.isType || isTypeOnly,
          });
        }
      }
    }
    // A file's own names take precedence over `export *`.
    const names = new Set(exported.map(({ name }) => name));
    return [...exported, ...starred.filter(({ name }) => !names.has(name))];
  }

  /** Returns the text of a declaration, with all its overloads. */
  async textOf(file: string, original: string, name: string): Promise<string> {
    const source = await this.#read(file);
    const texts = source.statements
      .filter((statement) => namesOf(statement, true).includes(original))
      .map((statement) => statement.getText(source));
    const renamed = name === original ? "" : ` as ${name}`;
    return texts.join("\n").replaceAll(/^export (declare )?/gm, "") + renamed;
  }

  #read(path: string): Promise<ts.SourceFile> {
    let file = this.#files.get(path);
    if (file === undefined) {
      this.#files.set(path, file = this.#declare(path));
    }
    return file;
  }

  async #declare(path: string): Promise<ts.SourceFile> {
    const text = await Deno.readTextFile(new URL(path, this.#root));
    const { outputText } = ts.transpileDeclaration(text, {
      fileName: path,
      compilerOptions: { removeComments: true, target: ts.ScriptTarget.ESNext },
    });
    return ts.createSourceFile(path, outputText, ts.ScriptTarget.ESNext, true);
  }
}

/** Returns the path that a specifier of a file leads to. */
function resolve(path: string, specifier: ts.Expression | undefined): string {
  if (specifier === undefined || !ts.isStringLiteral(specifier)) {
    throw new Error(`${path} must re-export from a file`);
  }
  return new URL(specifier.text, new URL(path, "file:///")).pathname.slice(1);
}

/** Returns the specifier that a file imports a name from. */
function importOf(
  { statements }: ts.SourceFile,
  name: string,
): ts.Expression | undefined {
  return statements.filter(ts.isImportDeclaration).find(({ importClause }) => {
    const bindings = importClause?.namedBindings;
    return bindings !== undefined && ts.isNamedImports(bindings) &&
      bindings.elements.some((element) => element.name.text === name);
  })?.moduleSpecifier;
}

/** Returns the names that a statement declares and, unless `isAny`, exports. */
function namesOf(
  statement: ts.Statement,
  isAny = false,
): readonly string[] {
  const isExported = isAny || ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) =>
        kind === ts.SyntaxKind.ExportKeyword
      );
  if (!isExported) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) =>
      name.getText()
    );
  }
  const { name } = statement as ts.DeclarationStatement;
  return name === undefined ? [] : [name.getText()];
}
