import { createApp } from "../app/host.ts";
import type { Fetcher } from "../app/fetcher.ts";
import { noteDevCommand } from "../core/runtime/environment.ts";
import { checkResponse } from "../core/http/message.ts";
import { serverURL } from "../app/server_url.ts";
import type { DevOptions } from "./arguments.ts";
import { DevError } from "./dev_error.ts";
import type { DevApp, DevServer } from "./dev_server.ts";
import { loadEntry } from "./load_entry.ts";
import { openInBrowser } from "./open_in_browser.ts";
import { isPortInUse, startServer } from "./server.ts";
import { onFirstSignal } from "./signals.ts";
import type { Tracing } from "./tracing.ts";

const DEFAULT_PORT = 8000;
/** Number of ports to try, beginning with the default. */
const PORTS_TO_TRY = 100;

/**
 * Serves the app until SIGINT or SIGTERM.
 *
 * @throws {DevError} If the app can't be loaded, or the port is taken.
 */
export async function runDev(options: DevOptions): Promise<void> {
  noteDevCommand();
  // Before the app, which may call `getTracer()`.
  const tracing = options.trace
    ? await (await import("./tracing.ts")).startTracing(options)
    : undefined;
  const entry = await loadEntry(options.entry);
  const app = mount(entry, options.entry, tracing);
  const server = await listen(app, options);
  // `finished` reports what `shutdown()` does.
  const finish = onFirstSignal(() => server.shutdown().catch(() => {}));

  const url = serverURL(server.address);
  console.log(`Listening on ${url}`);
  tracing?.onListen(url);
  if (options.open) await openInBrowser(url);
  try {
    await server.finished;
  } finally {
    // Also if the app fails to close. Otherwise the traces would be lost.
    await tracing?.close();
    await finish();
  }
}

/** Puts the host around the app, so that it traces requests. */
function mount(
  entry: Fetcher,
  name: string,
  tracing: Tracing | undefined,
): DevApp {
  const host = createApp(tracing && { trace: tracing.plugin });
  for (const middleware of tracing?.middleware ?? []) host.use(middleware);
  host.use(async (request, { info }) =>
    checkResponse(
      await entry.fetch(request, info),
      request,
      `fetch of ${name} must return`,
    )
  );
  return {
    fetch: host.fetch,
    async close() {
      await Promise.all([host.close(), entry.close?.()]);
    },
  };
}

async function listen(
  app: DevApp,
  { host, port, entry, to }: DevOptions,
): Promise<DevServer> {
  const tries = port === undefined ? PORTS_TO_TRY : 1;
  const first = port ?? DEFAULT_PORT;
  for (let next = first; next < first + tries; next++) {
    // Leave this port to the other process, which may start later.
    if (port === undefined && String(next) === to?.port) continue;
    try {
      const options = { hostname: host, port: next, entry };
      const server = await startServer(app, options);
      if (next !== first && String(first) !== to?.port) {
        console.log(`Port ${first} is in use, so this is port ${next}`);
      }
      return server;
    } catch (error) {
      if (isPortInUse(error)) continue;
      // On Deno, the cause is the error without the address.
      const { message } = (error as Error).cause as Error ?? error;
      throw new DevError(`Cannot listen on ${host}:${next}: ${message}`);
    }
  }
  const last = first + tries - 1;
  throw new DevError(
    port === undefined
      ? `Cannot listen: ports ${first} to ${last} are in use; choose one with --port`
      : `Cannot listen on port ${port}: it is in use; choose another one, or leave --port out`,
  );
}
