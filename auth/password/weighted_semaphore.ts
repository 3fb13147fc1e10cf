/** Work that waits for its turn. */
interface Waiter {
  readonly weight: number;
  readonly start: () => void;
  readonly refuse: (error: QueueFullError) => void;
}

/**
 * Runs work when there is room. Work that is heavier than the capacity runs
 * alone.
 *
 * @param caller The caller that the work is for.
 * @throws {QueueFullError} If too much is waiting, and no other caller has a
 * longer queue.
 */
type RunInTurn = <T>(
  weight: number,
  work: () => Promise<T>,
  caller?: string,
) => Promise<T>;

/** Thrown instead of running work if the queue is full. */
export class QueueFullError extends Error {}

/**
 * Creates a weighted semaphore, which runs as much work at once as its capacity
 * allows. The rest waits in one queue for each caller, and the queues take turns
 * (round-robin). When too much is waiting, the longest queue loses its last
 * entry:
 *
 * ```
 * a: 1 2 3 4 5 ✗     runs a1 b1 c1 a2 a3 …
 * b: 1               c1 comes last and finds no room: a5 is dropped
 * c: 1
 * ```
 *
 * @param capacity Maximum weight of the running work.
 * @param maxWaiting Maximum number of waiting work.
 */
export function createWeightedSemaphore(
  capacity: number,
  maxWaiting: number,
): RunInTurn {
  /** The non-empty queues by caller. The first one has the next turn. */
  const queues = new Map<string, Waiter[]>();
  let waiting = 0;
  let used = 0;

  const hasRoom = (weight: number) => used === 0 || used + weight <= capacity;

  function wait(weight: number, caller: string): Promise<void> {
    if (waiting >= maxWaiting) makeRoom(caller);
    waiting++;
    return new Promise((start, refuse) => {
      const queue = queues.get(caller) ?? [];
      queue.push({ weight, start, refuse });
      queues.set(caller, queue);
    });
  }

  /** Drops the last entry of the longest queue, or refuses the caller. */
  function makeRoom(caller: string): void {
    const length = queues.get(caller)?.length ?? 0;
    const longest = [...queues.values()].reduce(
      (a, b) => b.length > a.length ? b : a,
      [],
    );
    // Queues that differ by one count as equal.
    if (longest.length <= length + 1) throw new QueueFullError();
    waiting--;
    longest.pop()!.refuse(new QueueFullError());
  }

  function startWaiting(): void {
    for (const [caller, queue] of queues) {
      const { weight, start } = queue[0]!;
      if (!hasRoom(weight)) return;
      queue.shift();
      // To the end of the turns.
      queues.delete(caller);
      if (queue.length > 0) queues.set(caller, queue);
      waiting--;
      // Counted before it runs, so that a new caller sees it.
      used += weight;
      start();
    }
  }

  return async (weight, work, caller = "") => {
    // Nobody overtakes. Otherwise light work could delay heavy work forever.
    if (waiting === 0 && hasRoom(weight)) used += weight;
    else await wait(weight, caller);
    try {
      return await work();
    } finally {
      used -= weight;
      startWaiting();
    }
  };
}
