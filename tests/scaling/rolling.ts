/**
 * Three processes behind a proxy, restarted one after another under load.
 *
 * @module
 */

import { type Child, freePort, startDeno } from "../helpers.ts";

/** Numbers of requests and failures. */
export interface Outcome {
  readonly requests: number;
  /** Failed reads, such as `GET / 502`. */
  readonly failedReads: readonly string[];
  /** Failed writes, with the kit's error code. */
  readonly failedWrites: readonly string[];
  /** Number of writes that were answered with 200, and of those that ran. */
  readonly writes: { readonly answered: number; readonly ran: number };
}

/** Three processes on different ports. */
export interface Processes extends AsyncDisposable {
  readonly ports: readonly number[];
  /** Ends a process with SIGTERM, waits for its end, and starts it again. */
  restart(index: number): Promise<void>;
  /** Kills a process with SIGKILL, and starts it again. */
  crash(index: number): Promise<void>;
  /** Number of writes that ran in all processes, including ended ones. */
  readonly ran: Promise<number>;
}

/** Starts three processes of a program in this folder. */
export async function startProcesses(
  drain: number,
  program = "server.ts",
): Promise<Processes> {
  const path = new URL(program, import.meta.url).pathname;
  const all: Child[] = [];
  async function run(port: number): Promise<Child> {
    const child = startDeno(["run", "-A", path, `${port}`, `${drain}`]);
    all.push(child);
    await child.printed(/port \d+/);
    return child;
  }
  async function end(child: Child): Promise<number> {
    child.kill("SIGTERM");
    const code = await child.code;
    if (code !== 0) throw new Error(`Ended with ${code}:\n${child.stderr}`);
    return Number(/writes: (\d+)/.exec(child.stdout)![1]);
  }
  const ports = [freePort(), freePort(), freePort()];
  const children = await Promise.all(ports.map(run));
  let ran = 0;
  return {
    ports,
    async restart(index) {
      ran += await end(children[index]!);
      children[index] = await run(ports[index]!);
    },
    async crash(index) {
      children[index]!.kill("SIGKILL");
      await children[index]!.code;
      children[index] = await run(ports[index]!);
    },
    get ran() {
      return Promise.all(children.map(end)).then((counts) =>
        counts.reduce((sum, count) => sum + count, ran)
      );
    },
    async [Symbol.asyncDispose]() {
      for (const child of all) await child[Symbol.asyncDispose]();
    },
  };
}

/** Sends requests continuously until stopped. */
export function startLoad(origin: string) {
  const failedReads: string[] = [];
  const failedWrites: string[] = [];
  const pids = new Set<number>();
  let isOver = false;
  let requests = 0;
  let answered = 0;

  async function ask(
    method: string,
    path: string,
  ): Promise<string | undefined> {
    requests++;
    try {
      const response = await fetch(origin + path, { method });
      const text = await response.text();
      if (response.status === 200) {
        pids.add(JSON.parse(text).pid);
        return undefined;
      }
      const code = /"code":"(\w+)"/.exec(text)?.[1] ?? "";
      return `${method} ${path} ${response.status} ${code}`.trim();
    } catch (error) {
      return `${method} ${path} ${error}`;
    }
  }
  async function read(path: string): Promise<void> {
    while (!isOver) {
      const failure = await ask("GET", path);
      if (failure !== undefined) failedReads.push(failure);
    }
  }
  async function write(): Promise<void> {
    while (!isOver) {
      const failure = await ask("POST", "/write");
      if (failure === undefined) answered++;
      else failedWrites.push(failure);
    }
  }
  const loops = [
    ...["/", "/", "/slow", "/slow"].map(read),
    write(),
    write(),
  ];
  return {
    /** Waits until this many processes have answered since the start. */
    async answeredBy(count: number): Promise<void> {
      while (pids.size < count) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async stop(): Promise<Omit<Outcome, "writes"> & { answered: number }> {
      isOver = true;
      await Promise.all(loops);
      return { requests, failedReads, failedWrites, answered };
    },
  };
}

/**
 * Restarts three processes behind a proxy under load.
 *
 * @param restart Restarts one of them. Default: with SIGTERM.
 */
export async function restartAll(
  processes: Processes,
  origin: string,
  restart: (index: number) => Promise<void> = processes.restart,
): Promise<Outcome> {
  const load = startLoad(origin);
  await load.answeredBy(3);
  for (let index = 0; index < 3; index++) {
    await restart(index);
    // The next restart waits until the proxy uses the new process.
    await load.answeredBy(4 + index);
  }
  const { answered, ...outcome } = await load.stop();
  return { ...outcome, writes: { answered, ran: await processes.ran } };
}
