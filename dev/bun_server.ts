import { toBun } from "../app/adapters/to_bun.ts";
import {
  type DevApp,
  type DevServer,
  devServer,
  type DevServerOptions,
} from "./dev_server.ts";

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
  return devServer(
    app,
    hostname,
    server.port,
    () => server.stop(),
    () => server.stop(true),
  );
}
