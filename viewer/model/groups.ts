/**
 * Repeated siblings: a loop that runs the same query for each row of another
 * one shows up as dozens of spans that say the same. They are found here and
 * become one row.
 *
 * @module
 */

import { statementOf } from "./attributes.ts";
import type { SpanNode } from "./tree.ts";

/** How many siblings have to be alike to be shown as one. */
export const MIN_GROUP_SIZE = 3;

/**
 * How many other siblings may stand between two that are alike. Enough for a
 * loop of a few different queries, not for the start and the end of a request.
 */
const MAX_DISTANCE = 6;

/** Siblings that do the same. */
export interface SpanGroup {
  /** Tells the group from all others of its trace, and from spans. */
  readonly id: string;
  /** The members by start time, at least {@linkcode MIN_GROUP_SIZE}. */
  readonly members: readonly SpanNode[];
}

/**
 * Finds the groups among the children of a span.
 *
 * Siblings are alike if name, layer and statement are the same. Statements
 * that differ only in their literals are the same.
 */
export function groupSiblings(children: readonly SpanNode[]): SpanGroup[] {
  if (children.length < MIN_GROUP_SIZE) return [];
  const known = cache.get(children);
  if (known !== undefined) return known;
  const found = findGroups(children);
  cache.set(children, found);
  return found;
}

/** Rows, findings and searches ask for the groups of the same spans. */
const cache = new WeakMap<readonly SpanNode[], SpanGroup[]>();

function findGroups(children: readonly SpanNode[]): SpanGroup[] {
  const runs: { members: SpanNode[]; at: number }[] = [];
  const open = new Map<string, { members: SpanNode[]; at: number }>();
  // Statements repeat, and finding the shape of one takes a while.
  const shapes = new Map<string, string>();
  for (const [at, node] of children.entries()) {
    const signature = signatureOf(node, shapes);
    const run = open.get(signature);
    if (run !== undefined && at - run.at <= MAX_DISTANCE) {
      run.members.push(node);
      run.at = at;
    } else {
      const started = { members: [node], at };
      runs.push(started);
      open.set(signature, started);
    }
  }
  return runs
    .filter(({ members }) => members.length >= MIN_GROUP_SIZE)
    .map(({ members }) => ({
      id: `group:${members[0]!.span.id}`,
      members,
    }));
}

function signatureOf(
  { span }: SpanNode,
  shapes: Map<string, string>,
): string {
  const statement = statementOf(span) ?? "";
  let shape = shapes.get(statement);
  if (shape === undefined) {
    shape = statementShape(statement);
    shapes.set(statement, shape);
  }
  return `${span.layer}\n${span.name}\n${shape}`;
}

/** A statement with `?` in place of its literals. */
export function statementShape(statement: string): string {
  return statement
    .slice(0, 2000)
    .replaceAll(/'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b/g, "?")
    .replaceAll(/\s+/g, " ");
}
