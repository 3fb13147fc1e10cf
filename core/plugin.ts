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

/**
 * Finds out whether something that the app needs works, such as a database.
 * Fails by throwing, rejecting or returning `false`.
 */
export type HealthCheck = () => unknown;

/** A part that an app is built of: what a module of the kit hands over. */
export interface Plugin {
  /** Names the plugin in errors. No two plugins of an app share one. */
  readonly name: string;
  /** Middlewares to install, the outermost first. */
  readonly middleware?: Middleware<Context> | readonly Middleware<Context>[];
  /** Routes to add. */
  readonly routes?: readonly Route[];
  /**
   * Checks of what the plugin needs, such as a store, by name. Readiness runs
   * them, see `healthPlugin()`.
   */
  readonly health?: Readonly<Record<string, HealthCheck>>;
  /**
   * Runs once, before the app answers its first request.
   *
   * @param app The app.
   * @param plugins All plugins of the app, the outermost first.
   */
  setup?(app: PluginHost, plugins: readonly Plugin[]): void | Promise<void>;
  /** Called when the app is about to close, while requests are still answered. */
  drain?(): void;
  /** Runs once when the app closes, in reverse order of the plugins. */
  close?(): void | Promise<void>;
  /** Never there: functions have a name too, but are no plugins. */
  readonly bind?: never;
}
