import type { App } from "./app.ts";
import { APP_OPTIONS, createHost } from "./host.ts";
import type { AppOptions } from "./host.ts";
import { checkOptions } from "../core/check/check_options.ts";

/**
 * Makes an app: the smallest host that the kit's modules can be mounted on.
 *
 * @param options What the app is made of.
 * @throws {TypeError} If an option is unknown, a route is malformed, a plugin is
 * invalid, or two plugins share a name.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 *
 * const app = createApp({
 *   routes: [{ path: "/hello/:name", loader: ({ params }) => params }],
 * });
 * const response = await app.fetch(new Request("http://localhost/hello/ada"));
 * console.assert((await response.json()).name === "ada");
 * ```
 */
export function createApp(options: AppOptions = {}): App {
  checkOptions(options, APP_OPTIONS, "create app");
  return createHost(options).app;
}
