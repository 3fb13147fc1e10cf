/** A stretch of time, and the stretch it is part of. */
export interface LaneSpan {
  readonly start: number;
  readonly end: number;
  /** The place of its parent in the list, or -1. */
  readonly parent: number;
}

/** Spans on one lane that are open, each inside the one before it. */
interface Lane {
  readonly number: number;
  readonly open: number[];
  /** When the outermost of them ends; until then nothing else goes beside. */
  busyUntil: number;
}

/**
 * Gives each span a lane so that on every lane any two spans are nested or
 * apart. A span goes on its parent's lane, inside it, if no sibling is in the
 * way, and else on the lane that has been free for longest.
 *
 * @returns The lane of each span, from 0, in the order given.
 */
export function assignLanes(spans: readonly LaneSpan[]): number[] {
  const lanes: Lane[] = [];
  const free = new LaneQueue();
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
      lane = free.take(span.start) ??
        { number: lanes.length, open: [], busyUntil: 0 };
      if (lane.number === lanes.length) lanes.push(lane);
      lane.open.length = 0;
      lane.busyUntil = span.end;
      free.add(lane);
    }
    lane.open.push(i);
    laneOf.set(i, lane);
  }
  return spans.map((_, i) => laneOf.get(i)?.number ?? 0);
}

/** Whether nothing is open on the lane inside of the span's parent. */
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

/** Lanes by when they are free: a binary heap. */
class LaneQueue {
  readonly #heap: Lane[] = [];

  add(lane: Lane): void {
    const heap = this.#heap;
    let i = heap.push(lane) - 1;
    while (i > 0) {
      const up = (i - 1) >> 1;
      const parent = heap[up] as Lane;
      if (parent.busyUntil <= lane.busyUntil) break;
      heap[i] = parent;
      i = up;
    }
    heap[i] = lane;
  }

  /** Takes out a lane that is free at `time`, if there is one. */
  take(time: number): Lane | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.busyUntil > time) return undefined;
    const last = heap.pop() as Lane;
    if (last === first) return first;
    let i = 0;
    while (true) {
      let down = 2 * i + 1;
      if (down >= heap.length) break;
      const right = heap[down + 1];
      if (right && right.busyUntil < (heap[down] as Lane).busyUntil) down++;
      const child = heap[down] as Lane;
      if (child.busyUntil >= last.busyUntil) break;
      heap[i] = child;
      i = down;
    }
    heap[i] = last;
    return first;
  }
}
