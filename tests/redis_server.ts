/**
 * A `redis-server` for tests, with its own port and a temporary data folder.
 *
 * @module
 */

import { createClient } from "redis";
import { freePort } from "./helpers.ts";

/** A server that stops at the end of its block. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  /** Its address: `redis://127.0.0.1:<port>`. */
  readonly url: string;
  /** Sends a command on its own connection. */
  send(...command: string[]): Promise<unknown>;
  /** Kills it, as a crash or `kill -9` would, and waits for its end. */
  crash(): Promise<void>;
  /** Pauses or continues it, as `kill -STOP` and `kill -CONT` do. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Restarts it after a crash, with the same port and data. */
  restart(): Promise<void>;
}

/**
 * Waits until the replicas have everything the master has. `WAIT` covers only
 * the writes of its own connection.
 */
export async function replicated(master: RedisServer): Promise<void> {
  for (;;) {
    const info = String(await master.send("INFO", "replication"));
    const offset = /master_repl_offset:(\d+)/.exec(info)![1];
    const copies = [...info.matchAll(/^slave\d+:.*offset=(\d+)/gm)];
    if (copies.length > 0 && copies.every((it) => it[1] === offset)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Whether tests can start a `redis-server`. */
export const hasRedisServer: boolean = await canRun("redis-server");

/** Whether tests have any Redis: one they can start, or `REDIS_URL`. */
export const hasRedis: boolean = hasRedisServer ||
  Deno.env.get("REDIS_URL") !== undefined;

/**
 * Adds to a test's name why it is ignored, if it is.
 *
 * @param name The test's name.
 * @param present Whether the server that it needs is available.
 */
export function needsRedis(name: string, present: boolean): string {
  return present
    ? name
    : `${name} (needs redis-server on the path${
      present === hasRedis ? " or REDIS_URL" : ""
    })`;
}

/** Returns the Redis of `REDIS_URL`, or starts one. */
export async function anyRedis(): Promise<{ url: string } & AsyncDisposable> {
  const url = Deno.env.get("REDIS_URL");
  return url === undefined
    ? await startRedis()
    : { url, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/**
 * Starts a server. Without persistence settings, it loses all data in a crash.
 *
 * @param settings More arguments. `--appendonly yes --appendfsync always` loses
 * nothing in a crash.
 */
export async function startRedis(
  settings: readonly string[] = [],
): Promise<RedisServer> {
  const port = freePort();
  const dir = await Deno.makeTempDir();
  // deno-fmt-ignore
  return await startIn(dir, port, [
    "--port", `${port}`, "--dir", dir, "--save", "", ...settings,
  ], "Ready to accept connections");
}

/**
 * Starts a sentinel.
 *
 * @param settings The lines of its configuration.
 */
export async function startSentinel(
  settings: readonly string[],
): Promise<RedisServer> {
  const port = freePort();
  const dir = await Deno.makeTempDir();
  // The sentinel writes its state into this file.
  const file = `${dir}/sentinel.conf`;
  await Deno.writeTextFile(
    file,
    [`port ${port}`, `dir ${dir}`, ...settings, ""].join("\n"),
  );
  return await startIn(dir, port, [file, "--sentinel"], "Sentinel ID is");
}

async function startIn(
  dir: string,
  port: number,
  args: readonly string[],
  announcement: string,
): Promise<RedisServer> {
  let process = await start();

  async function start(): Promise<Deno.ChildProcess> {
    const child = new Deno.Command("redis-server", {
      args: [...args, "--bind", "127.0.0.1", "--daemonize", "no"],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    try {
      await ready(child.stdout, announcement);
    } catch (error) {
      await child.status;
      throw error;
    }
    return child;
  }

  async function crash(): Promise<void> {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has already ended.
    }
    await process.status;
  }

  const url = `redis://127.0.0.1:${port}`;

  return {
    port,
    url,
    async send(...command) {
      const socket = {
        reconnectStrategy: false,
        connectTimeout: 60_000,
      } as const;
      const client = createClient({ url, socket, RESP: 2 });
      client.on("error", () => {});
      await client.connect();
      try {
        return await client.sendCommand(command);
      } finally {
        client.destroy();
      }
    },
    crash,
    signal: (signal) => process.kill(signal),
    async restart() {
      process = await start();
    },
    async [Symbol.asyncDispose]() {
      await crash();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

/** Waits until the server is ready for connections. */
async function ready(
  stdout: ReadableStream<Uint8Array<ArrayBuffer>>,
  announcement: string,
): Promise<void> {
  let text = "";
  for await (const part of stdout.pipeThrough(new TextDecoderStream())) {
    text += part;
    // Leaving the loop closes the pipe, which doesn't disturb Redis.
    if (text.includes(announcement)) return;
  }
  throw new Error(`redis-server did not start:\n${text}`);
}

async function canRun(command: string): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(command, {
      args: ["--version"],
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}
