/**
 * A Postgres for tests, on a port of its own, with its data in a folder that
 * goes away with it.
 *
 * @module
 */

import pg from "pg";
import postgres from "postgres";

/** A server that ends with the block that it was started in. */
export interface PostgresServer extends AsyncDisposable {
  /** Where it listens: `postgres://postgres@127.0.0.1:<port>/postgres`. */
  readonly url: string;
  /** Ends it at once, as a crash or `kill -9` would, and waits for its end. */
  crash(): Promise<void>;
  /** Starts it again after a crash, on the same port and data. */
  restart(): Promise<void>;
}

/** The drivers that stores must work with. */
export const DRIVERS = {
  "npm:pg": (url: string) => () => new pg.Client(url),
  "npm:postgres": (url: string) => () => postgres(url, { max: 1 }),
} as const;

/** The name of a driver. */
export type Driver = keyof typeof DRIVERS;

/** The names of all drivers. */
export const driverNames = Object.keys(DRIVERS) as Driver[];

const bin = await findPrograms();

/** Whether tests can start a Postgres. */
export const hasPostgres: boolean = bin !== undefined;

/** The name of a test, with the reason if it has to be ignored. */
export function needsPostgres(name: string): string {
  return hasPostgres ? name : `${name} (needs initdb and postgres)`;
}

/** Finds the folder of `initdb` and `postgres`, on the path or as on Debian. */
async function findPrograms(): Promise<string | undefined> {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const debian = "/usr/lib/postgresql";
  try {
    const versions = Array.from(Deno.readDirSync(debian), ({ name }) => name);
    versions.sort((a, b) => Number(b) - Number(a));
    folders.push(...versions.map((version) => `${debian}/${version}/bin`));
  } catch {
    // Not installed as on Debian.
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

/** Its programs refuse to run as root. */
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
 * Starts a server.
 *
 * @param settings Its settings, such as `max_connections=10`.
 */
export async function startPostgres(
  settings: readonly string[] = [],
): Promise<PostgresServer> {
  let port = freePort();
  const urlOf = () => `postgres://postgres@127.0.0.1:${port}/postgres`;
  const dir = await Deno.makeTempDir();
  if (Deno.uid() === 0) await run("chown", ["postgres:postgres", dir]);
  // deno-fmt-ignore
  const { success } = await command("initdb", [
    "-D", dir, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8",
  ]).output();
  if (!success) throw new Error("initdb failed");
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
    }
  }

  async function crash(): Promise<void> {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await process.status;
  }

  return {
    url: urlOf(),
    crash,
    async restart() {
      await crash();
      for (let attempts = 1;; attempts++) {
        try {
          process = await start();
          return;
        } catch (error) {
          // After a crash, its other processes have to notice that first.
          if (attempts === 20) throw error;
        }
      }
    },
    async [Symbol.asyncDispose]() {
      await crash();
      // Its other processes may still write, until they notice.
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
 * Starts a server before the first test of a file, and ends it after the last.
 *
 * @returns Gives its address.
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

/** Returns the schema of a test: no other test has the same. */
export function newSchema(): string {
  return `test_${crypto.randomUUID().replaceAll("-", "")}`;
}

async function run(file: string, args: string[]): Promise<void> {
  const { success } = await new Deno.Command(file, { args }).output();
  if (!success) throw new Error(`${file} failed`);
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}
