import type { Context } from "./context.ts";
import type { Middleware } from "./middleware.ts";
import type { Route } from "./route.ts";

/** The part of an app that a plugin's `setup` sees. */
export interface PluginHost {
  /** Adds a middleware. The first one added is the outermost. */
  use(middleware: Middleware<Context>): PluginHost;
  /** Adds a route. */
  route(route: Route): PluginHost;
}

/** A part that an app is built of: what a module of the kit hands over. */
export interface Plugin {
  /** Names the plugin in errors. No two plugins of an app share one. */
  readonly name: string;
  /** Middlewares to install, the outermost first. */
  readonly middleware?: Middleware<Context> | readonly Middleware<Context>[];
  /** Routes to add. */
  readonly routes?: readonly Route[];
  /** Runs once, before the app answers its first request. */
  setup?(app: PluginHost): void | Promise<void>;
  /** Called when the app is about to close, while requests are still answered. */
  drain?(): void;
  /** Runs once when the app closes, in reverse order of the plugins. */
  close?(): void | Promise<void>;
  /** Never there: functions have a name too, but are no plugins. */
  readonly bind?: never;
}
