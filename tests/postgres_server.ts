/**
 * A Postgres server for tests, with its own port and a temporary data folder.
 *
 * @module
 */

import { dirname } from "node:path";
import pg from "pg";
import postgres from "postgres";
import { freePort } from "./helpers.ts";

/** A server that stops at the end of its block. */
export interface PostgresServer extends AsyncDisposable {
  /** Its address: `postgres://postgres@127.0.0.1:<port>/postgres`. */
  readonly url: string;
  /** Kills it, as a crash or `kill -9` would, and waits for its end. */
  crash(): Promise<void>;
  /** Restarts it after a crash, with the same port and data. */
  restart(): Promise<void>;
}

/** The drivers that stores must work with. */
export const DRIVERS = {
  "npm:pg": (url: string) => () => new pg.Client(url),
  // After end(), the client's timers run until its sockets have closed, which may
  // be after the test.
  "npm:postgres": (url: string) => () =>
    postgres(url, { max: 1, max_lifetime: 0, connect_timeout: 0 }),
} as const;

export type Driver = keyof typeof DRIVERS;

export const driverNames = Object.keys(DRIVERS) as Driver[];

const bin = await findPrograms();

/** Whether tests can start a Postgres server. */
export const hasPostgres: boolean = bin !== undefined;

/** Adds to a test's name why it is ignored, if it is. */
export function needsPostgres(name: string): string {
  return hasPostgres ? name : `${name} (needs initdb and postgres)`;
}

/**
 * Finds the folder of `initdb` and `postgres`: on the path or in Debian's
 * folder.
 */
async function findPrograms(): Promise<string | undefined> {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const debian = "/usr/lib/postgresql";
  try {
    const versions = Array.from(Deno.readDirSync(debian), ({ name }) => name);
    versions.sort((a, b) => Number(b) - Number(a));
    folders.push(...versions.map((version) => `${debian}/${version}/bin`));
  } catch {
    // Debian's folder doesn't exist.
  }
  for (const folder of folders) {
    const files = ["initdb", "postgres"].map((name) => `${folder}/${name}`);
    const found = await Promise.all(
      files.map((file) => Deno.stat(file).then(() => true, () => false)),
    );
    if (found.every(Boolean)) return folder;
  }
  return undefined;
}

/**
 * Runs a program as the user `postgres` if the tests run as root, which it
 * rejects.
 */
function command(name: string, args: readonly string[]): Deno.Command {
  const program = `${bin}/${name}`;
  const user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"];
  const [file, all] = Deno.uid() === 0
    ? ["setpriv", [...user, program, ...args]]
    : [program, [...args]];
  return new Deno.Command(file, {
    args: all,
    cwd: "/tmp",
    env: { LC_ALL: "C" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  });
}

/**
 * Returns a new server's data folder to copy, because `initdb` takes a second of
 * CPU time. Creates it in the temporary folder, once per version.
 */
async function findTemplate(): Promise<string> {
  const { stdout } = await new Deno.Command(`${bin}/postgres`, {
    args: ["--version"],
  }).output();
  const [version] = /\d[\d.]*/.exec(new TextDecoder().decode(stdout))!;
  const dir = await Deno.makeTempDir();
  const template = `${dirname(dir)}/quartet-postgres-${version}-${Deno.uid()}`;
  const last = `${template}/global/pg_control`;
  const isThere = () => Deno.stat(last).then(() => true, () => false);
  try {
    if (await isThere()) return template;
    if (Deno.uid() === 0) await run("chown", ["postgres:postgres", dir]);
    // deno-fmt-ignore
    const { success } = await command("initdb", [
      "-D", dir, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8",
    ]).output();
    if (!success) throw new Error("initdb failed");
    // Another process may have been faster. Its folder is complete.
    await Deno.rename(dir, template).catch(async (error) => {
      if (!await isThere()) throw error;
    });
    return template;
  } finally {
    await Deno.remove(dir, { recursive: true }).catch(() => {});
  }
}

/**
 * Starts a server.
 *
 * @param settings Server settings, such as `max_connections=10`.
 */
export async function startPostgres(
  settings: readonly string[] = [],
): Promise<PostgresServer> {
  let port = freePort();
  const urlOf = () => `postgres://postgres@127.0.0.1:${port}/postgres`;
  const dir = await Deno.makeTempDir();
  await run("cp", ["-a", `${await findTemplate()}/.`, dir]);
  let process = await start().catch(() => {
    // Another program may have taken the port meanwhile.
    port = freePort();
    return start();
  });

  async function start(): Promise<Deno.ChildProcess> {
    // deno-fmt-ignore
    const args = [
      "-D", dir, "-p", `${port}`, "-k", "", "-h", "127.0.0.1", "-F",
      ...["shared_buffers=16MB", ...settings].flatMap((each) => ["-c", each]),
    ];
    const child = command("postgres", args).spawn();
    let hasEnded = false;
    child.status.then(() => hasEnded = true);
    for (;;) {
      const client = new pg.Client(urlOf());
      client.on("error", () => {});
      try {
        await client.connect();
        const { rows } = await client.query("SHOW data_directory");
        if (rows[0].data_directory === dir) return child;
        hasEnded = true;
        throw new Error(`port ${port} is another server's`);
      } catch (error) {
        if (hasEnded) {
          throw new Error("postgres did not start", { cause: error });
        }
      } finally {
        await client.end();
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async function end(signal: "SIGKILL" | "SIGQUIT"): Promise<void> {
    try {
      process.kill(signal);
    } catch {
      // It has already ended.
    }
    await process.status;
  }

  return {
    url: urlOf(),
    crash: () => end("SIGKILL"),
    async restart() {
      await end("SIGKILL");
      for (let attempts = 1;; attempts++) {
        try {
          process = await start();
          return;
        } catch (error) {
          // Its child processes take a moment to notice a crash.
          if (attempts === 20) throw error;
        }
      }
    },
    async [Symbol.asyncDispose]() {
      // Ends it at once, but without leaving shared memory behind.
      await end("SIGQUIT");
      // Its child processes may still write for a moment.
      for (let attempts = 1;; attempts++) {
        try {
          return await Deno.remove(dir, { recursive: true });
        } catch (error) {
          if (attempts === 20) throw error;
        }
      }
    },
  };
}

/**
 * Starts a server before the first test of a file, and stops it after the last.
 *
 * @returns A function that returns its address.
 */
export function sharedPostgres(): () => string {
  let server: PostgresServer | undefined;
  if (hasPostgres) {
    Deno.test.beforeAll(async () => {
      server = await startPostgres();
    });
    Deno.test.afterAll(async () => {
      await server?.[Symbol.asyncDispose]();
    });
  }
  return () => server!.url;
}

/** Returns a unique name for a test's schema. */
export function newSchema(): string {
  return `test_${crypto.randomUUID().replaceAll("-", "")}`;
}

async function run(file: string, args: string[]): Promise<void> {
  const { success } = await new Deno.Command(file, { args }).output();
  if (!success) throw new Error(`${file} failed`);
}
