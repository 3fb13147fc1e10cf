/**
 * The pages of the documentation: the content of each Markdown file of the
 * repository.
 *
 * @module
 */

import { marked, type Token, type Tokens } from "marked";
import { ROOT } from "../helpers.ts";

export interface CodeBlock {
  /** Its location, such as `docs/rpc.md:12`. */
  readonly place: string;
  /** The first word after its fence, such as `ts`. */
  readonly language: string;
  /** The words after that, such as `ignore`. */
  readonly marks: readonly string[];
  readonly text: string;
}

/** A Markdown file. */
export interface Page {
  /** The path below the root, such as `docs/rpc.md`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly CodeBlock[];
  /** Targets of links and images. */
  readonly links: readonly string[];
  /** Anchors of its headings. */
  readonly anchors: ReadonlySet<string>;
  /** Inline code. */
  readonly snippets: readonly string[];
}

/** Reads all Markdown files of the repository. */
export async function readPages(): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const path of markdownFiles(ROOT)) {
    pages.push(readPage(path, await Deno.readTextFile(new URL(path, ROOT))));
  }
  return pages.sort((a, b) => a.path < b.path ? -1 : 1);
}

async function* markdownFiles(
  folder: URL,
  below = "",
): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory && !/^\.|^node_modules$|^coverage$/.test(name)) {
      yield* markdownFiles(new URL(`${name}/`, folder), `${below}${name}/`);
    } else if (name.endsWith(".md")) yield below + name;
  }
}

/** Parses a page. */
export function readPage(path: string, text: string): Page {
  const blocks: CodeBlock[] = [];
  const links: string[] = [];
  const anchors = new Set<string>();
  const snippets: string[] = [];
  let line = 1;
  for (const token of marked.lexer(text)) {
    marked.walkTokens([token], (part) => {
      if (isOf(part, "code")) {
        const [word = "", ...marks] = (part.lang ?? "").split(/\s+/);
        // Deno only runs blocks fenced with backticks.
        const language = part.raw.startsWith("~") ? "~~~" : word;
        // For a block in a list, this is the line where the list begins.
        const place = `${path}:${line}`;
        blocks.push({ place, language, marks, text: part.text });
      } else if (isOf(part, "link") || isOf(part, "image")) {
        links.push(part.href);
      } else if (isOf(part, "codespan")) {
        snippets.push(part.text);
      } else if (isOf(part, "heading")) {
        anchors.add(newAnchor(plainText(part.tokens), anchors));
      }
    });
    line += token.raw.split("\n").length - 1;
  }
  return { path, text, blocks, links, anchors, snippets };
}

interface TokenTypes {
  code: Tokens.Code;
  codespan: Tokens.Codespan;
  heading: Tokens.Heading;
  image: Tokens.Image;
  link: Tokens.Link;
}

function isOf<T extends keyof TokenTypes>(
  token: Token,
  type: T,
): token is TokenTypes[T] {
  return token.type === type;
}

function plainText(tokens: readonly Token[]): string {
  return tokens.map((token) =>
    "tokens" in token && token.tokens !== undefined
      ? plainText(token.tokens)
      : "text" in token
      ? String(token.text)
      : ""
  ).join("");
}

/**
 * Returns a heading's anchor as on GitHub and JSR. Repeated ones get a number.
 */
function newAnchor(heading: string, taken: ReadonlySet<string>): string {
  const anchor = heading.toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
  if (!taken.has(anchor)) return anchor;
  let n = 1;
  while (taken.has(`${anchor}-${n}`)) n++;
  return `${anchor}-${n}`;
}
