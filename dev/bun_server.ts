import { toBun } from "../app/adapters/to_bun.ts";
import { closeWithin, limitedBy } from "../app/shutdown.ts";
import { settlesWithin } from "../core/runtime/timeouts.ts";
import {
  type DevApp,
  type DevServer,
  type DevServerOptions,
  SHUTDOWN_TIMEOUT,
} from "./server_options.ts";

/** The part of Bun's API that is used. */
interface BunAPI {
  serve(options: object): {
    readonly port: number;
    stop(closeActiveConnections?: boolean): Promise<void>;
  };
}

/** Listens with `Bun.serve`. */
export function startBunServer(
  app: DevApp,
  { hostname, port }: DevServerOptions,
): DevServer {
  const { Bun } = globalThis as unknown as { Bun: BunAPI };
  const server = Bun.serve({ hostname, port, ...toBun(app) });
  const { promise: finished, resolve } = Promise.withResolvers<void>();

  async function stop(): Promise<void> {
    const stopped = server.stop();
    try {
      await limitedBy(
        SHUTDOWN_TIMEOUT,
        async (deadline) => await closeWithin(deadline, () => app.close()),
      );
    } finally {
      if (!await settlesWithin(stopped, SHUTDOWN_TIMEOUT * 1_000)) {
        server.stop(true);
      }
    }
  }
  return {
    address: { transport: "tcp", hostname, port: server.port },
    finished,
    shutdown() {
      resolve(stop());
      return finished;
    },
  };
}
