import type { Context, Params } from "./context.ts";
import type { Handler } from "./middleware.ts";

/** What a loader, an action or a wrapper such as `withAuth` is called with. */
export interface RouteArgs {
  /** The request, as received. */
  readonly request: Request;
  /** The request's context, shared with middlewares. */
  readonly context: Context;
  /** The parameters of the route, decoded. */
  readonly params: Params;
}

/**
 * Who may use a route. `requireAuth()` and its relatives make these; the host
 * only calls {@linkcode AuthRule.check}.
 */
export interface AuthRule {
  /** Whether anonymous requests are turned away. */
  readonly required: boolean;
  /** Roles to hold, if any. */
  readonly roles?: readonly string[] | undefined;
  /** Whether all of `roles` are needed rather than one of them. */
  readonly requireAll?: boolean | undefined;
  /** Where anonymous requests are sent. */
  readonly redirect?: string | ((url: URL) => string) | undefined;
  /** What anonymous requests are answered. */
  readonly unauthorized?:
    | { readonly status: number; readonly body: unknown }
    | undefined;
  /** Gives the response that refuses the request, or nothing to let it in. */
  check(
    request: Request,
    context: Context,
  ): Response | undefined | Promise<Response | undefined>;
}

/**
 * A fragment of a route's `config`, as `requireAuth()` and `createGuard()`
 * return it. It also holds its rule under a second, unique key. So all fragments
 * that are spread into one `config` apply.
 */
export type AuthFragment = {
  /** Enforced by the host before the route's code runs. */
  readonly auth: AuthRule;
};

/** Settings of a route, spread together from fragments like `requireAuth()`. */
export interface RouteConfig {
  /**
   * The rule that is checked before the route's code runs. If several fragments
   * were spread, this is the last one's rule, and the others apply too. A
   * fragment that is spread after a plain rule overwrites it. To combine both,
   * pass the rule to `createGuard()`.
   */
  readonly auth?: AuthRule;
}

/**
 * One address of an app. Either a `handler` for one method, or a `loader` that
 * answers GET and an `action` that answers POST, PUT, PATCH and DELETE.
 *
 * A loader or an action returns a `Response`, or a value that is sent as JSON;
 * `undefined` is sent as 204.
 */
export interface Route {
  /**
   * A path. `:name` is one segment, `*` any number of them, even none,
   * and `/**:name` at the end the rest, at least one, under a name.
   */
  readonly path: string;
  /** The method of `handler`. Default `GET`; `*` answers every method. */
  readonly method?: string;
  /** Answers requests of `method`. */
  readonly handler?: Handler<Context>;
  /** Answers GET requests, in a span of the data layer. */
  readonly loader?: (args: RouteArgs) => unknown;
  /** Answers POST, PUT, PATCH and DELETE, in a span of the forms layer. */
  readonly action?: (args: RouteArgs) => unknown;
  /** Settings, such as `requireAuth()`. */
  readonly config?: RouteConfig;
  /**
   * The maximum size of a request body, in bytes, or `Infinity`. Larger bodies
   * get 413 `PAYLOAD_TOO_LARGE`. Default: the app's `maxBodySize`.
   */
  readonly maxBodySize?: number;
}
