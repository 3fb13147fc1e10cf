/**
 * The host for tests, served by Node or Bun as a user would do it. Everything
 * else comes from the installed package.
 *
 * @module
 */

import * as kit from "@quartet/kit/app";
import type { App, AppOptions, ServeOptions, Server } from "@quartet/kit/app";
import { listen } from "./serve.ts";

export * from "@quartet/kit/app";

/** Same as the kit's `serve()`. */
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

/** Same as the kit's `createApp()`. */
export function createApp(options?: AppOptions): App {
  const app = kit.createApp(options);
  const onDeno = app.serve;
  return Object.assign(app, {
    async serve(options?: ServeOptions) {
      // It sets up the plugins before it reports that it needs Deno.
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
