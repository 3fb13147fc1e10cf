import type { App } from "./app.ts";
import { createHost } from "./host.ts";
import type { AppOptions } from "./host.ts";

/**
 * Makes an app: the smallest host that the kit's modules can be mounted on.
 *
 * @param options What the app is made of.
 * @throws {TypeError} If a route is malformed, a plugin is not one, or two
 * plugins share a name.
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
  return createHost(options).app;
}
