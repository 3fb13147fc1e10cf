/** A fake clock for long timers. Disposing it restores the real timers. */
export interface FakeTimers extends Disposable {
  /** Delays of the pending timers, in milliseconds. */
  readonly waits: readonly number[];
  /** Runs the timers that are due after this many milliseconds. */
  advance(ms: number): void;
}

interface Timer {
  due: number;
  readonly fn: () => void;
  readonly ms: number;
  readonly repeats: boolean;
}

/**
 * Replaces all timers of 50 ms or more. Shorter ones stay real, because sockets
 * and processes need them. Timers of Node's own `fetch` and `WebSocket` stay real
 * too.
 */
export function fakeTimers(): FakeTimers {
  const real = {
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    clearTimeout: globalThis.clearTimeout,
    clearInterval: globalThis.clearInterval,
  };
  const timers = new Map<number, Timer>();
  let time = 0;
  let ids = 1e9;

  const set = (repeats: boolean) => (fn: () => void, ms = 0, ...args: []) => {
    if (ms < 50 || isCalledByNode()) {
      return real[repeats ? "setInterval" : "setTimeout"](fn, ms, ...args);
    }
    timers.set(++ids, { due: time + ms, fn, ms, repeats });
    return ids;
  };
  const clear = (id?: number) => {
    if (!timers.delete(id!)) real.clearTimeout(id);
  };
  Object.assign(globalThis, {
    setTimeout: set(false),
    setInterval: set(true),
    clearTimeout: clear,
    clearInterval: clear,
  });

  return {
    get waits() {
      return Array.from(timers.values(), ({ ms }) => ms);
    },
    advance(ms) {
      const until = time + ms;
      for (;;) {
        const [next] = [...timers].filter(([, { due }]) => due <= until)
          .sort(([, a], [, b]) => a.due - b.due);
        if (next === undefined) break;
        const [id, timer] = next;
        time = timer.due;
        if (timer.repeats) timer.due += timer.ms;
        else timers.delete(id);
        timer.fn();
      }
      time = until;
    },
    [Symbol.dispose]() {
      Object.assign(globalThis, real);
    },
  };
}

/** Whether the caller of the calling function is code of Node itself. */
function isCalledByNode(): boolean {
  const [, , , caller] = new Error().stack?.split("\n") ?? [];
  return /node:internal/.test(caller ?? "");
}
