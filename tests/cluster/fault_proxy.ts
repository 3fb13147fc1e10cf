/**
 * A TCP proxy on 127.0.0.1 whose faults are switched while it runs.
 *
 * ```
 * mode          connections that are open       new connections
 * forward       work                            work
 * silent        carry nothing, for ever         work
 * black hole    carry nothing until it changes  are accepted, carry nothing
 * refuse        are closed                      are refused
 * { delay: n }  work, n ms later per direction  the same
 * ```
 *
 * @module
 */

import { freePort } from "../helpers.ts";

/** The way the proxy treats bytes. */
export type FaultMode =
  | "forward"
  | "silent"
  | "black hole"
  | "refuse"
  | { readonly delay: number };

/** A proxy. It's closed at the end of its block. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** The address for Redis clients: `redis://127.0.0.1:<port>`. */
  readonly url: string;
  /** Number of open connections. */
  readonly connections: number;
  /** The port that new connections are forwarded to. */
  target: number;
  /**
   * Switches the fault. Bytes held back by a black hole arrive when the mode
   * changes, as TCP resends lost bytes.
   */
  set(mode: FaultMode): void;
  /** Closes all connections. New ones behave as the mode says. */
  cut(): void;
}

/** Two connections, and the bytes between them. */
interface Pair {
  readonly near: Deno.TcpConn;
  far?: Deno.TcpConn;
  isSilent: boolean;
  isClosed: boolean;
}

/**
 * Starts a proxy in the mode `forward`.
 *
 * @param target The port to forward to.
 */
export function startFaultProxy(target: number): FaultProxy {
  const hostname = "127.0.0.1";
  const port = freePort();
  let listener = Deno.listen({ hostname, port });
  const pairs = new Set<Pair>();
  const running = new Set<Promise<void>>();
  const sleeping = new Set<() => void>();
  let mode: FaultMode = "forward";
  let changed = Promise.withResolvers<void>();
  let isListening = true;
  run(accept(listener));

  function run(task: Promise<void>): void {
    const done = task.finally(() => running.delete(done));
    running.add(done);
  }

  async function accept(source: Deno.TcpListener): Promise<void> {
    try {
      for await (const near of source) {
        near.setNoDelay();
        run(serve({ near, isSilent: false, isClosed: false }));
      }
    } catch {
      // The listener was closed while it accepted a connection.
    }
  }

  async function serve(pair: Pair): Promise<void> {
    pairs.add(pair);
    try {
      await unlessHeld(pair);
      if (pair.isClosed) return;
      const far = await Deno.connect({ hostname, port: proxy.target });
      far.setNoDelay();
      if (pair.isClosed) return far.close();
      pair.far = far;
      await Promise.all([
        pass(pair, pair.near, far),
        pass(pair, far, pair.near),
      ]);
    } catch {
      // Nothing listens at the target.
    } finally {
      close(pair);
    }
  }

  async function pass(
    pair: Pair,
    from: Deno.TcpConn,
    to: Deno.TcpConn,
  ): Promise<void> {
    const buffer = new Uint8Array(65_536);
    try {
      for (;;) {
        const size = await from.read(buffer);
        if (size === null) break;
        if (typeof mode === "object") await sleep(mode.delay);
        await unlessHeld(pair);
        for (let sent = 0; sent < size && !pair.isSilent;) {
          sent += await to.write(buffer.subarray(sent, size));
        }
      }
    } catch {
      // One of the two was closed.
    }
    // A held connection loses its end as well as its bytes.
    await unlessHeld(pair);
    if (!pair.isSilent) close(pair);
  }

  async function unlessHeld(pair: Pair): Promise<void> {
    while (mode === "black hole" && !pair.isClosed) await changed.promise;
  }

  function sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        sleeping.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      sleeping.add(wake);
    });
  }

  function close(pair: Pair): void {
    if (!pairs.delete(pair)) return;
    pair.isClosed = true;
    pair.near.close();
    pair.far?.close();
  }

  function wakeAll(): void {
    changed.resolve();
    changed = Promise.withResolvers();
    for (const wake of sleeping) wake();
  }

  function cut(): void {
    for (const pair of pairs) close(pair);
    wakeAll();
  }

  function set(next: FaultMode): void {
    mode = next;
    if (next === "refuse") {
      if (isListening) listener.close();
      isListening = false;
      return cut();
    }
    if (!isListening) {
      listener = Deno.listen({ hostname, port });
      isListening = true;
      run(accept(listener));
    }
    if (next === "silent") { for (const pair of pairs) pair.isSilent = true; }
    wakeAll();
  }

  const proxy: FaultProxy = {
    port,
    url: `redis://${hostname}:${port}`,
    target,
    get connections() {
      return pairs.size;
    },
    set,
    cut,
    async [Symbol.asyncDispose]() {
      set("refuse");
      while (running.size > 0) await Promise.all(running);
    },
  };
  return proxy;
}
