/**
 * The flame graph: the total of a trace by name, repeated spans added up.
 *
 * Siblings with the same name and layer become one frame. A frame is as wide as
 * the time of its spans and all their descendants. The time of concurrent spans
 * is divided among them. So frames never overlap, and the first one is as wide
 * as the total.
 *
 * @module
 */

import type { Layer } from "../../trace/types.ts";
import { sumOf } from "./numbers.ts";
import { timeShares } from "./time_shares.ts";
import { isFailed, spanKey, type SpanNode, type TraceTree } from "./tree.ts";

/** A box of the flame graph. */
export interface Frame {
  /** The index in the list of frames. Parents precede children. */
  readonly index: number;
  /** The name of its spans. */
  readonly name: string;
  /** The layer of its spans. */
  readonly layer: Layer;
  /** Its spans by start time. */
  readonly nodes: readonly SpanNode[];
  /** The number of frames above it. */
  readonly depth: number;
  /** The frame above it; `undefined` for the first one. */
  readonly parent: Frame | undefined;
  /** The frames right below it, widest first. */
  readonly children: Frame[];
  /** The share of its own spans in the total, in milliseconds. */
  readonly selfTime: number;
  /** Its width: the share with all descendants, in milliseconds. */
  time: number;
  /** Its left edge, in milliseconds of width. */
  x: number;
  /** The number of failed spans. */
  readonly failures: number;
}

/** Lists the frames of a trace, parents before children. */
export function flameFrames(tree: TraceTree): Frame[] {
  const top = tree.nodes[0];
  if (top === undefined) return [];
  const shares = timeShares(tree);
  const frames = [createFrame([top], undefined, 0, shares)];
  for (let i = 0; i < frames.length; i++) {
    const frame = frames[i]!;
    const below = frame.nodes.flatMap(({ children }) => children);
    const byName = Map.groupBy(below, ({ span }) => spanKey(span));
    for (const nodes of byName.values()) {
      const child = createFrame(nodes, frame, frames.length, shares);
      frames.push(child);
      frame.children.push(child);
    }
  }
  for (const frame of frames.toReversed()) {
    frame.time += frame.selfTime;
    if (frame.parent !== undefined) frame.parent.time += frame.time;
  }
  for (const frame of frames) {
    frame.children.sort((a, b) => b.time - a.time || a.index - b.index);
    let x = frame.x;
    for (const child of frame.children) {
      child.x = x;
      x += child.time;
    }
  }
  return frames;
}

function createFrame(
  nodes: readonly SpanNode[],
  parent: Frame | undefined,
  index: number,
  shares: Float64Array,
): Frame {
  const { name, layer } = nodes[0]!.span;
  return {
    index,
    name,
    layer,
    nodes,
    depth: parent === undefined ? 0 : parent.depth + 1,
    parent,
    children: [],
    selfTime: sumOf(nodes, ({ index }) => shares[index]!),
    time: 0,
    x: 0,
    failures: nodes.filter(({ span }) => isFailed(span)).length,
  };
}

/** The place of a frame, in pixels. */
export type PlacedFrame = ReturnType<typeof placeFrames>[number];

/**
 * Returns the visible frames when one of them fills the view: that frame, its
 * ancestors, and its descendants of at least a third of a pixel.
 */
export function placeFrames(
  frames: readonly Frame[],
  zoomed: Frame,
  viewWidth: number,
) {
  const scale = viewWidth / (zoomed.time || 1);
  const end = zoomed.x + zoomed.time;
  return frames.flatMap((frame) => {
    const from = Math.max(frame.x, zoomed.x);
    const to = Math.min(frame.x + frame.time, end);
    const width = (to - from) * scale;
    const isVisible = frame === zoomed || width >= 1 / 3;
    return isVisible ? [{ frame, left: (from - zoomed.x) * scale, width }] : [];
  });
}

/** Returns the frame of a span. */
export function frameOf(
  frames: readonly Frame[],
  node: SpanNode,
): Frame | undefined {
  return frames.find((frame) => frame.nodes.includes(node));
}
