/**
 * The host for tests: what listens is a server of Node or Bun, as a user there
 * would have to do it. All else is as it was installed.
 *
 * @module
 */

import * as kit from "@quartet/kit/app";
import type { App, AppOptions, ServeOptions, Server } from "@quartet/kit/app";
import { listen } from "./serve.ts";

export * from "@quartet/kit/app";

/** As the kit's. */
export function serve(app: kit.Fetcher, options: ServeOptions = {}): Server {
  const { addr, finished, shutdown } = listen(app, options.port ?? 8000);
  options.onListen?.(addr);
  async function end(): Promise<void> {
    await app.close?.();
    await shutdown();
  }
  return {
    address: addr,
    finished,
    shutdown: end,
    [Symbol.asyncDispose]: end,
  };
}

/** As the kit's. */
export function createApp(options?: AppOptions): App {
  const app = kit.createApp(options);
  const onDeno = app.serve;
  return Object.assign(app, {
    async serve(options?: ServeOptions) {
      // It has the plugins set up before it says that it needs Deno.
      try {
        await onDeno(options);
      } catch (error) {
        if (!/^Cannot serve: Deno.serve/.test((error as Error).message)) {
          throw error;
        }
      }
      return serve(app, options);
    },
  });
}
