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
 * Checks something that the app needs, such as a database. Fails by throwing,
 * rejecting or returning `false`.
 */
export type HealthCheck = () => unknown;

/** A part of an app, such as a module of the kit. */
export interface Plugin {
  /** The plugin's name in errors, unique in the app. */
  readonly name: string;
  /** Middlewares to add, outermost first. */
  readonly middleware?: Middleware<Context> | readonly Middleware<Context>[];
  /** Routes to add. */
  readonly routes?: readonly Route[];
  /**
   * Checks of what the plugin needs, such as a store, by name. `healthPlugin()`
   * runs them for readiness.
   */
  readonly health?: Readonly<Record<string, HealthCheck>>;
  /**
   * Called once, before the app answers its first request.
   *
   * @param app The app.
   * @param plugins All plugins of the app, outermost first.
   */
  setup?(app: PluginHost, plugins: readonly Plugin[]): void | Promise<void>;
  /** Called when the app is about to close, while requests are still answered. */
  drain?(): void;
  /** Called once when the app closes, in reverse order of the plugins. */
  close?(): void | Promise<void>;
  /** Always absent. Excludes functions, which have a name too. */
  readonly bind?: never;
}
