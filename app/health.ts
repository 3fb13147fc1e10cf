import { checkOptions, type OptionRules } from "../core/check/options.ts";
import {
  aDuration,
  aFunction,
  aTimeout,
  isObject,
  matching,
  show,
} from "../core/check/rules.ts";
import type { ConnectionInfo, Context } from "../core/context.ts";
import type { HealthCheck, Plugin } from "../core/plugin.ts";
import { printableError, reportError } from "../core/redact/printable.ts";
import { withTimeout } from "../core/promises.ts";
import { UnavailableError } from "../core/error_response.ts";

/** Options of the health plugin. */
export interface HealthOptions {
  /** The path of readiness. Liveness is below it. Default: `/__app/health`. */
  readonly path?: string;
  /**
   * More checks, by name. Plugins bring their own, such as `session store`: a
   * check of the same name replaces a plugin's, and `false` leaves it out.
   * Default: the plugins' checks only.
   */
  readonly checks?: Readonly<Record<string, HealthCheck | false>>;
  /** The timeout of a check, in seconds. Default: 2. */
  readonly checkTimeout?: number;
  /**
   * The maximum age of reused results, in seconds. It limits the load that
   * polling clients cause. Default: 1.
   */
  readonly maxAge?: number;
  /**
   * Whether a request may see the name and state of each check. Errors are never
   * shown. Default: nobody may.
   */
  readonly showDetails?: (
    request: Request,
    info: ConnectionInfo | undefined,
  ) => boolean | Promise<boolean>;
  /**
   * Called when a check begins to fail. Default: `console.error`, except for an
   * `UnavailableError`, which its store reports itself.
   */
  readonly onError?: (error: unknown, name: string) => unknown;
}

const OPTIONS: OptionRules<HealthOptions> = {
  path: matching('a path such as "/health"', /^\/.*[^/]$/),
  checks: {
    expected: "an object of functions",
    test: (value) => isObject(value) && findWrongCheck(value) === undefined,
    describe(value) {
      const [name, check] = isObject(value) && findWrongCheck(value) || [];
      return name === undefined ? show(value) : `${show(check)} as ${name}`;
    },
  },
  checkTimeout: aTimeout("seconds"),
  maxAge: aDuration("seconds", { zero: true }),
  showDetails: aFunction,
  onError: aFunction,
};

function findWrongCheck(checks: Record<string, unknown>) {
  return Object.entries(checks).find(([_name, check]) =>
    check !== false && typeof check !== "function"
  );
}

/** The state of each check, by name. */
type Results = Readonly<Record<string, "ok" | "failed">>;

/**
 * Creates a plugin that answers the health checks of load balancers:
 *
 * - `GET /__app/health` is 200 while the server is ready for requests. It is 503
 *   if a check fails, and from the beginning of a shutdown. Plugins that are
 *   mounted together with this one bring checks too.
 * - `GET /__app/health/live` is 200 as long as the process answers.
 *
 * Responses have a JSON body with `status`: `ready`, `failing`, `draining` or
 * `alive`. They aren't cached or traced.
 *
 * @param options The checks, and who sees their names.
 * @throws {TypeError} If an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { createApp, healthPlugin } from "@quartet/kit/app";
 *
 * const database = { ping: () => Promise.resolve() };
 * const app = createApp({
 *   plugins: [healthPlugin({ checks: { database: () => database.ping() } })],
 * });
 * const url = "http://localhost/__app/health";
 * const response = await app.fetch(new Request(url));
 * console.assert((await response.json()).status === "ready");
 * ```
 */
export function healthPlugin(options: HealthOptions = {}): Plugin {
  checkOptions(options, OPTIONS, "create health plugin");
  const {
    path = "/__app/health",
    checks = {},
    checkTimeout = 2,
    maxAge = 1,
    showDetails = () => false,
    onError = logFailure,
  } = options;
  let allChecks = checks;
  const failing = new Set<string>();
  let isDraining = false;
  let latest: Promise<Results> | undefined;
  let expiresAt = -Infinity;

  /** Requests that come while the checks run share them. */
  function results(): Promise<Results> {
    if (latest === undefined || performance.now() >= expiresAt) {
      expiresAt = Infinity;
      latest = checkAll().finally(() =>
        expiresAt = performance.now() + maxAge * 1_000
      );
    }
    return latest;
  }

  async function checkAll(): Promise<Results> {
    const states = await Promise.all(
      Object.entries(allChecks).map(async ([name, check]) =>
        check !== false &&
        [name, await isHealthy(name, check) ? "ok" : "failed"] as const
      ),
    );
    return Object.fromEntries(states.filter((state) => state !== false));
  }

  async function isHealthy(name: string, check: HealthCheck): Promise<boolean> {
    try {
      const late = () => new Error(`it took longer than ${checkTimeout} s`);
      const result = Promise.resolve(check());
      if (await withTimeout(result, checkTimeout * 1_000, late) === false) {
        throw new Error("it returned false");
      }
      failing.delete(name);
      return true;
    } catch (error) {
      // Once for each outage.
      if (!failing.has(name)) reportError(onError, error, name);
      failing.add(name);
      return false;
    }
  }

  async function answerReadiness(
    request: Request,
    context: Context,
  ): Promise<Response> {
    const details = await results();
    const isFailing = Object.values(details).includes("failed");
    const status = isDraining ? "draining" : isFailing ? "failing" : "ready";
    return answer(status === "ready" ? 200 : 503, {
      status,
      // Untyped code may return a promise, which is always truthy.
      ...(await showDetails(request, context.info) === true &&
        { checks: details }),
    });
  }

  return {
    name: "health",
    routes: [
      { path, handler: answerReadiness },
      {
        path: `${path}/live`,
        handler: () => answer(200, { status: "alive" }),
      },
    ],
    setup(_app, plugins) {
      const own = plugins.map(({ health }) => health);
      allChecks = Object.assign({}, ...own, checks);
    },
    drain: () => void (isDraining = true),
  };
}

function answer(status: number, body: unknown): Response {
  return Response.json(body, {
    status,
    headers: { "cache-control": "no-store" },
  });
}

function logFailure(error: unknown, name: string): void {
  // Already reported by the store that threw it.
  if (error instanceof UnavailableError) return;
  console.error("Health check %s failed:", name, printableError(error));
}
