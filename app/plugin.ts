import type { App } from "./app.ts";
import type { Context } from "./context.ts";
import type { Middleware } from "./middleware.ts";
import type { Route } from "./route.ts";

/** A part that an app is built of: what a module of the kit hands over. */
export interface Plugin {
  /** Names the plugin in errors. No two plugins of an app share one. */
  readonly name: string;
  /** Middlewares to install, the outermost first. */
  readonly middleware?: Middleware<Context> | readonly Middleware<Context>[];
  /** Routes to add. */
  readonly routes?: readonly Route[];
  /** Runs once, before the app answers its first request. */
  setup?(app: App): void | Promise<void>;
  /** Runs once when the app closes, in reverse order of the plugins. */
  close?(): void | Promise<void>;
  /** Never there: functions have a name too, but are no plugins. */
  readonly bind?: never;
}
