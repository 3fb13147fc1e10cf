import type { AttributeValue, SpanData } from "../types.ts";

/** The attributes of a line of code. */
export const CODE_LINE = ["code.file.path", "code.line.number"] as const;

/**
 * Looks up the line of code, which otherwise happens when it is read. If it is
 * unknown, its attributes are removed. Call it before copying attributes.
 *
 * @returns The same object.
 */
export function settleLine<T extends Readonly<Record<string, AttributeValue>>>(
  attributes: T,
): T {
  void attributes[CODE_LINE[0]];
  return attributes;
}

/**
 * Returns the line of code behind a span, such as `posts.ts:41`, or
 * `../shared/db.ts:7` for a file outside of the folder. `undefined` if the line
 * is unknown.
 *
 * @param folder The absolute path that the result is relative to.
 */
export function codeLineOf(
  { attributes }: Pick<SpanData, "attributes">,
  folder: string,
): string | undefined {
  const path = attributes["code.file.path"];
  const line = attributes["code.line.number"];
  if (typeof path !== "string" || path === "") return undefined;
  const short = relativePath(segmentsOf(folder), segmentsOf(path));
  return typeof line === "number" ? `${short}:${line}` : short;
}

function segmentsOf(path: string): string[] {
  return path.replaceAll("\\", "/").split("/");
}

function relativePath(from: string[], to: string[]): string {
  let shared = 0;
  while (shared < to.length - 1 && from[shared] === to[shared]) shared++;
  // Another drive, or nothing in common but the root.
  if (shared < 2) return to.join("/");
  return [...from.slice(shared).fill(".."), ...to.slice(shared)].join("/");
}
