/** A range of time, and its parent. */
export interface LaneSpan {
  readonly start: number;
  readonly end: number;
  /** The index of its parent in the list, or -1. */
  readonly parent: number;
}

/** The open spans of a lane, each inside the one before it. */
interface Lane {
  readonly number: number;
  readonly open: number[];
  /**
   * The end of the outermost one. Until then, the lane takes only its
   * descendants.
   */
  busyUntil: number;
}

/**
 * Assigns a lane to each span, so that two spans of a lane are nested or don't
 * overlap. A span uses its parent's lane if no sibling overlaps it, or else the
 * lane that has been free for longest.
 *
 * @returns The lane of each span, from 0, in the given order.
 */
export function assignLanes(spans: readonly LaneSpan[]): number[] {
  // Sorted by the time at which they become free.
  const queue: Lane[] = [];
  const laneOf = new Map<number, Lane>();
  const order = spans.map((_, i) => i).sort((a, b) => {
    const x = spans[a] as LaneSpan;
    const y = spans[b] as LaneSpan;
    return x.start - y.start || y.end - x.end || a - b;
  });
  for (const i of order) {
    const span = spans[i] as LaneSpan;
    let lane = laneOf.get(span.parent);
    if (lane === undefined || !fitsInside(span, lane, spans)) {
      lane = queue.length > 0 && queue[0]!.busyUntil <= span.start
        ? queue.shift()!
        : { number: queue.length, open: [], busyUntil: 0 };
      lane.open.length = 0;
      lane.busyUntil = span.end;
      const before = queue.findLastIndex((other) =>
        other.busyUntil <= span.end
      );
      queue.splice(before + 1, 0, lane);
    }
    lane.open.push(i);
    laneOf.set(i, lane);
  }
  return spans.map((_, i) => laneOf.get(i)!.number);
}

/** Whether no sibling is open on the parent's lane. */
function fitsInside(
  span: LaneSpan,
  lane: Lane,
  spans: readonly LaneSpan[],
): boolean {
  const { open } = lane;
  const top = (): LaneSpan | undefined => spans[open.at(-1) ?? -1];
  while (
    open.at(-1) !== span.parent && (top()?.end ?? Infinity) <= span.start
  ) open.pop();
  return open.at(-1) === span.parent && span.end <= (top()?.end ?? -Infinity);
}
