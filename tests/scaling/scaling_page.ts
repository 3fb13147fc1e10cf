/**
 * The files shown in `docs/scaling.md` and `docs/scaling-operations.md`, with
 * other addresses.
 *
 * @module
 */

import { ROOT } from "../helpers.ts";
import { readPage } from "../docs/pages.ts";
import { nginxFile } from "../trace/proxies.ts";

const PATHS = ["docs/scaling.md", "docs/scaling-operations.md"];
const texts = await Promise.all(
  PATHS.map((path) => Deno.readTextFile(new URL(path, ROOT))),
);
const text = texts.join("\n");
const { blocks } = readPage(PATHS.join(), text);

/** Returns the blocks of a language, in order. */
export function shown(language: string): string[] {
  return blocks.filter((block) => block.language === language)
    .map(({ text }) => text);
}

/** Returns the TypeScript blocks below a heading, in order. */
export function section(heading: string): string[] {
  const start = text.indexOf(`\n## ${heading}\n`);
  if (start === -1) throw new Error(`The pages have no section "${heading}"`);
  const end = text.indexOf("\n## ", start + 1);
  return readPage(PATHS.join(), text.slice(start, end)).blocks
    .filter(({ language }) => language === "ts").map(({ text }) => text);
}

/** Replaces the page's addresses by local ports. */
export function withPorts(
  file: string,
  listen: number,
  ports: readonly number[],
): string {
  return ports.reduce(
    (text, port, i) =>
      text.replaceAll(`10.0.0.1${i + 1}:8000`, `127.0.0.1:${port}`),
    file.replace("bind :80", `bind 127.0.0.1:${listen}`)
      .replace("listen 80;", `listen 127.0.0.1:${listen};`),
  ) + "\n";
}

/** Returns the command line and file of HAProxy, for `start()`. */
export function haproxy(file: string, ports: readonly number[]) {
  return (_folder: string, path: string, listen: number) => ({
    args: ["-db", "-q", "-f", path],
    text: withPorts(file, listen, ports),
  });
}

/** Returns the command line and file of nginx, for `start()`. */
export function nginx(file: string, ports: readonly number[]) {
  return (folder: string, path: string, listen: number) => ({
    args: ["-e", "stderr", "-p", folder, "-c", path],
    text: nginxFile(folder, withPorts(file, listen, ports)),
  });
}
