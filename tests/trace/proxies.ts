/**
 * Debian's reverse proxies, each with its files in a folder of its own.
 *
 * @module
 */

import { freePort } from "../helpers.ts";

/** A running proxy. Disposing it stops it. */
export interface Proxy extends AsyncDisposable {
  /** Address that it listens on. */
  readonly target: Deno.ConnectOptions;
}

/** Folders of the programs. They aren't on every PATH. */
const FOLDERS = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"];

/** Returns a program's path, or `undefined` if it isn't installed. */
export function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => `${folder}/${name}`).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/**
 * Starts nginx in front of a port.
 *
 * @param directives Directives of `location`, in addition to `proxy_pass`.
 */
export function startNginx(
  program: string,
  port: number,
  directives: readonly string[],
): Promise<Proxy> {
  return start(program, (folder, file, listen) => ({
    args: ["-e", "stderr", "-p", folder, "-c", file],
    text: nginxFile(
      folder,
      `server {
        listen 127.0.0.1:${listen};
        location / {
          proxy_pass http://127.0.0.1:${port};
          ${directives.join("\n")}
        }
      }`,
    ),
  }));
}

/**
 * Starts HAProxy in front of a port.
 *
 * @param lines Lines of the `listen` section, in addition to the server.
 */
export function startHAProxy(
  program: string,
  port: number,
  lines: readonly string[],
): Promise<Proxy> {
  return start(program, (_folder, file, listen) => ({
    args: ["-db", "-q", "-f", file],
    text: [
      "defaults",
      "  mode http",
      "  timeout connect 5s",
      "  timeout client 30s",
      "  timeout server 30s",
      "listen app",
      `  bind 127.0.0.1:${listen}`,
      ...lines.map((line) => `  ${line}`),
      `  server app 127.0.0.1:${port}`,
      "",
    ].join("\n"),
  }));
}

/**
 * Returns a configuration of nginx whose files are all in one folder.
 *
 * @param http Content of the `http` block.
 */
export function nginxFile(folder: string, http: string): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`);
  return [
    "daemon off;",
    "worker_processes 1;",
    `pid ${folder}/nginx.pid;`,
    // Otherwise the worker's user may not enter the folder.
    Deno.uid() === 0 ? "user root;" : "",
    "events { worker_connections 512; }",
    "http {",
    "access_log off;",
    ...paths,
    http,
    "}",
    "",
  ].join("\n");
}

/** A proxy's command line and configuration. */
export interface Configuration {
  readonly args: readonly string[];
  /** Content of its file. */
  readonly text: string;
}

/** Creates the configuration for a folder, a file and a port. */
export type Configure = (
  folder: string,
  file: string,
  listen: number,
) => Configuration;

/**
 * Number of attempts: neither program accepts port 0, so a free port may be
 * taken.
 */
const TRIES = 5;

/** Starts a proxy with a configuration for a folder, a file and a free port. */
export async function start(
  program: string,
  configure: Configure,
): Promise<Proxy> {
  for (let left = TRIES;; left--) {
    const started = await tryToStart(program, configure);
    if (typeof started !== "string") return started;
    if (left === 1 || !/in use|cannot bind/i.test(started)) {
      throw new Error(`${program} did not start: ${started}`);
    }
  }
}

/** Starts a proxy once. Returns its error output if it exits. */
async function tryToStart(
  program: string,
  configure: Configure,
): Promise<Proxy | string> {
  const folder = await Deno.makeTempDir();
  const port = freePort();
  const file = `${folder}/proxy.conf`;
  const { args, text } = configure(folder, file, port);
  await Deno.writeTextFile(file, text);
  const process = new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const complaints = new Response(process.stderr).text();
  let isRunning = true;
  const ended = process.status.then(() => isRunning = false);
  async function end(): Promise<void> {
    if (isRunning) process.kill("SIGTERM");
    await ended;
    await complaints;
    await Deno.remove(folder, { recursive: true });
  }
  const target = { hostname: "127.0.0.1", port };
  while (isRunning && !await listens(target)) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  if (isRunning) return { target, [Symbol.asyncDispose]: end };
  await end();
  return await complaints;
}

async function listens(target: Deno.ConnectOptions): Promise<boolean> {
  try {
    (await Deno.connect(target)).close();
    return true;
  } catch {
    return false;
  }
}
