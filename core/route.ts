import type { Context, Params } from "./context.ts";
import type { Handler } from "./middleware.ts";

/**
 * The parameters of a path, such as `{ id: string }` for `/users/:id`. With other
 * syntax than `:name` and `**:name`, or if the path isn't known, they may have any
 * name.
 */
export type PathParams<Path extends string, Names extends string = never> =
  string extends Path ? Params
    : Path extends "" ? Readonly<Record<Names, string>>
    : Path extends `${infer Segment}/${infer Rest}` ? PathParams<
        Rest,
        | Names
        | (string extends Segment ? string
          : Segment extends `:${infer Name}` | `**:${infer Name}`
            ? Name extends `${string}${
              | "*"
              | "("
              | "{"
              | "?"
              | "+"
              | ":"
              | "."
              | "-"}${string}` ? string
            : Name
          : Segment extends `${string}${"*" | ":"}${string}` ? string
          : never)
      >
    : PathParams<`${Path}/`, Names>;

/** The argument of a loader, an action or a wrapper such as `withAuth()`. */
export interface RouteArgs<P extends Params = Params> {
  /** The request, as received. */
  readonly request: Request;
  /** The request's context, shared with middlewares. */
  readonly context: Context;
  /** The parameters of the route, decoded. */
  readonly params: P;
}

/**
 * A rule that decides who may use a route. Guards such as `requireAuth()` create it.
 * The host only calls {@linkcode AuthRule.check}.
 */
export interface AuthRule {
  /** Whether anonymous requests are refused. */
  readonly required: boolean;
  /** The required roles, if any. */
  readonly roles?: readonly string[] | undefined;
  /** Whether all of `roles` are required instead of one of them. */
  readonly requireAll?: boolean | undefined;
  /** The URL to redirect anonymous requests to. */
  readonly redirect?: string | ((url: URL) => string) | undefined;
  /** The response to anonymous requests. */
  readonly unauthorized?:
    | { readonly status: number; readonly body: unknown }
    | undefined;
  /** Returns a response to refuse the request, or `undefined` to allow it. */
  check(
    request: Request,
    context: Context,
  ): Response | undefined | Promise<Response | undefined>;
}

/**
 * A fragment of a route's `config`, from `requireAuth()` or `createGuard()`. It also
 * holds its rule under a second, unique key, so that all fragments that are spread
 * into one `config` apply.
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
 * A route of an app: a `handler` for one method, or a `loader` for GET and an
 * `action` for POST, PUT, PATCH and DELETE.
 *
 * A loader or an action returns a `Response`, or a value that is sent as JSON.
 * `undefined` is sent as 204.
 */
export interface Route<Path extends string = string> {
  /**
   * The path. `:name` matches one segment, `*` one or more segments, and
   * at the end of the path also none. `/**:name` at the end matches the rest, at
   * least one segment.
   */
  readonly path: Path;
  /** The method of `handler`. Default `GET`; `*` answers every method. */
  readonly method?: string;
  /** Answers requests of `method`. */
  readonly handler?: Handler<Context>;
  /** Answers GET requests, in a span of the data layer. */
  readonly loader?: (args: RouteArgs<PathParams<Path>>) => unknown;
  /** Answers POST, PUT, PATCH and DELETE, in a span of the forms layer. */
  readonly action?: (args: RouteArgs<PathParams<Path>>) => unknown;
  /** Settings, such as `requireAuth()`. */
  readonly config?: RouteConfig;
  /**
   * The maximum size of a request body, in bytes, or `Infinity`. Larger bodies
   * get 413 `PAYLOAD_TOO_LARGE`. Default: the app's `maxBodySize`.
   */
  readonly maxBodySize?: number;
}
