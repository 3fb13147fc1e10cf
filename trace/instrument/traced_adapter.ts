import { checkOptions, checkValue } from "../../core/check/options.ts";
import { attempt, isThenable, whenDone } from "../../core/promises.ts";
import { currentScope, runInScope } from "../../core/request_scope.ts";
import { rule } from "../../core/check/rules.ts";
import { getActiveSpan, inSpan } from "../record/context.ts";
import type { Span } from "../types.ts";
import {
  countRows,
  QUERY,
  type QueryOpener,
  queryOpener,
  type QueryOptions,
  runQuery,
} from "./database.ts";
import { type Method, standIn } from "./stand_in.ts";

/** Returns a traced stand-in for a method. */
type Wrapper = (method: Method, options: QueryOptions) => Method;

/** The names of the methods that are traced, of drivers and of statements. */
const NAMES: readonly (readonly [Wrapper, string])[] = [
  [tracedQuery, "all exec execute get iterate query raw run values"],
  [tracedQuery, "queryArray queryObject queryOne"],
  [tracedLazyQuery, "unsafe"],
  [tracedTag, "()"],
  [tracedPrepare, "prepare prepareQuery"],
  [tracedTransaction, "begin savepoint transaction"],
  // Methods of a pool or client that return another client.
  [tracedClient, "acquire connect createTransaction getConnection reserve"],
];

const WRAPPERS = new Map(
  NAMES.flatMap(([wrap, names]) =>
    names.split(" ").map((name) => [name, wrap] as const)
  ),
);

const aDriver = rule(
  "a database, pool or client with a method such as query, execute or prepare (for others, use traceQuery())",
  isDriver,
);

/** Whether a value has a method that is traced. Functions have some too. */
function isDriver(value: unknown): value is object {
  const object = Object(value);
  const has = (name: string) => typeof object[name] === "function";
  // Redis and the like: keys aren't statements, and may contain secrets.
  const isKeyValueStore = has("set") && !has("query");
  return !isKeyValueStore && WRAPPERS.keys().some(has);
}

/**
 * Wraps a database driver so that its queries are traced, including prepared
 * statements and transactions. It works with drivers whose methods have the
 * usual names (`query`, `execute`, `exec`, `run`, `get`, `all`, `prepare`,
 * `transaction`, `connect`, …), such as `node:sqlite`, better-sqlite3, pg,
 * mysql2 and libSQL, and with the templates of postgres.js. All other members
 * stay the same. If nothing is traced, queries stay the same too.
 *
 * @param adapter The driver's database, pool or client.
 * @param options Attributes of the database.
 * @returns A stand-in of the same type.
 * @throws {TypeError} If the adapter has no method with a usual name, or is a
 * client of Redis, or an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { DatabaseSync } from "node:sqlite";
 * import { createTracer, tracedAdapter } from "@quartet/kit/trace";
 *
 * const database = tracedAdapter(new DatabaseSync(":memory:"), {
 *   system: "sqlite",
 * });
 * const tracer = createTracer();
 * tracer.withSpan("job", "custom", () => {
 *   database.prepare("SELECT 1 AS one").get();
 * });
 * database.close();
 *
 * const names = [...tracer.getTraces()[0]!.spans.values()].map((s) => s.name);
 * console.assert(names.join() === "job,db.query");
 * ```
 */
export function tracedAdapter<A extends object>(
  adapter: A,
  options: QueryOptions = {},
): A {
  checkValue(adapter, "adapter", aDriver, "trace a database");
  checkOptions(options, QUERY, "trace a database");
  return traceClient(adapter, options);
}

/** Returns a stand-in that traces the methods with known names. */
function traceClient<T>(value: T, options: QueryOptions): T {
  if (!isDriver(value)) return value;
  return standIn(value, (name, run) => {
    // In Bun's SQLite, `query` prepares a statement and keeps it.
    const isPrepare = name === "query" && "loadExtension" in value;
    return (isPrepare ? tracedPrepare : WRAPPERS.get(name))?.(run, options);
  });
}

/** Traces a method that takes the query's text, or an object with the text. */
function tracedQuery(method: Method, options: QueryOptions): Method {
  return (...args) => {
    const text = queryText(args[0]);
    return text === undefined
      ? method(...args)
      : runWith(args, queryOpener(text, options), method);
  };
}

/**
 * Traces a method or tag function of postgres.js or Bun. It returns a query that
 * starts when it is awaited, has methods of its own, and may become a part of
 * another query.
 */
function tracedLazyQuery(method: Method, options: QueryOptions): Method {
  return (...args) => {
    const query = method(...args);
    const text = getActiveSpan() && queryText(args[0]);
    if (text === undefined || !isThenable(query)) return query;
    const open = queryOpener(text, options);
    let started: Promise<unknown> | undefined;
    return standIn(query, (name) => {
      if (name !== "then" && name !== "catch" && name !== "finally") return;
      return (...callbacks) => {
        started ??= runQuery(open, () => query as Promise<unknown>);
        return (started[name] as Method).apply(started, callbacks);
      };
    });
  };
}

/**
 * Traces a tag function, as in sql`SELECT 1` of postgres.js. Other calls, such as
 * `sql(names)` or `knex("users")`, have no query's text.
 */
function tracedTag(call: Method, options: QueryOptions): Method {
  const traced = tracedLazyQuery(call, options);
  return (...args) => (Object(args[0]).raw ? traced : call)(...args);
}

/** Runs a query that returns a promise or a value, or calls back. */
function runWith(args: unknown[], open: QueryOpener, run: Method): unknown {
  const parent = getActiveSpan();
  if (typeof args.at(-1) !== "function" || parent === undefined) {
    return runQuery(open, () => run(...args));
  }
  const span = open(parent);
  try {
    // The result isn't a promise. With mysql2 it has a `then`, which throws.
    return run(...withCallback(args, (values) => {
      const [error, result] = values;
      if (error) span.error(error);
      else countRows(span, result);
      span.end();
      return values;
    }));
  } catch (error) {
    span.error(error);
    span.end();
    throw error;
  }
}

/**
 * Returns arguments whose callback, if there is one, gets other values, and runs
 * in the present scope. A pool calls it from the request that opened the
 * connection, or released the client.
 */
function withCallback(
  args: unknown[],
  edit: (values: unknown[]) => unknown[],
): unknown[] {
  const scope = currentScope();
  const callback = args.at(-1);
  return typeof callback !== "function" ? args : args.with(
    -1,
    function (this: unknown, ...values: unknown[]) {
      const edited = edit(values);
      return runInScope(scope, () => callback.apply(this, edited));
    },
  );
}

/** Traces a method that prepares a statement, synchronously or not. */
function tracedPrepare(method: Method, options: QueryOptions): Method {
  return (...args) => {
    const text = queryText(args[0]);
    if (text === undefined) return method(...args);
    const open = queryOpener(text, options);
    const wrap = (value: unknown) =>
      Object(value) === value ? standIn(value as object, traceRun) : value;
    return attempt(() => whenDone(method(...args), wrap), refuse);

    /** Records a query that can't be prepared and so never runs. */
    function refuse(error: unknown): never {
      const parent = getActiveSpan();
      if (parent !== undefined) {
        const span = open(parent);
        span.error(error);
        span.end();
      }
      throw error;
    }

    function traceRun(name: string, run: Method): Method | undefined {
      if (name === "iterate") return tracedIteration(run, open);
      // D1's `bind` returns another statement.
      if (name === "bind") return (...values) => wrap(run(...values));
      // better-sqlite3's `raw` is a setting, and doesn't run the query.
      const isQuery = WRAPPERS.get(name) === tracedQuery;
      if (name === "raw" || !isQuery) return undefined;
      return (...values) => runWith(values, open, run);
    }
  };
}

/** Traces an iteration until its last row. */
function tracedIteration(iterate: Method, open: QueryOpener): Method {
  return (...values) => {
    const parent = getActiveSpan();
    const rows = iterate(...values);
    // Rows of an async iterable can't be counted here.
    return parent === undefined || !(Symbol.iterator in Object(rows))
      ? rows
      : countedRows(rows as Iterable<unknown>, open(parent));
  };
}

function* countedRows(rows: Iterable<unknown>, span: Span): Generator {
  let count = 0;
  try {
    for (const row of rows) {
      count++;
      yield row;
    }
  } catch (error) {
    span.error(error);
    throw error;
  } finally {
    span.setAttribute("db.response.returned_rows", count);
    span.end();
  }
}

/**
 * Traces a method that takes a function for the transaction. With
 * better-sqlite3, the method returns another function, which runs it later. So
 * the passed function is traced, together with the client that it gets. Without
 * a function, as with libSQL, the method returns the transaction.
 */
function tracedTransaction(method: Method, options: QueryOptions): Method {
  const open = tracedClient(method, options);
  return (...args) =>
    args.some((arg) => typeof arg === "function")
      ? method(...args.map(wrap))
      : open(...args);

  function wrap(arg: unknown): unknown {
    if (typeof arg !== "function") return arg;
    return (...values: unknown[]) =>
      inSpan(
        "db.transaction",
        "database",
        () => arg(...values.map((value) => traceClient(value, options))),
        { "db.system.name": options.system, "db.namespace": options.namespace },
      );
  }
}

/** Traces a method that returns a client, synchronously or not, or calls back. */
function tracedClient(method: Method, options: QueryOptions): Method {
  const trace = (client: unknown) => traceClient(client, options);
  return (...args) => {
    const given = withCallback(
      args,
      ([error, client, ...rest]) => [error, trace(client), ...rest],
    );
    return whenDone(method(...given), trace);
  };
}

/** Returns a query's text, which drivers get alone, in an object or as a template. */
function queryText(query: unknown): string | undefined {
  const { raw, text, sql } = Object(query);
  const template = Array.isArray(raw) && (query as string[]).join("?");
  return [query, text, sql, template].find((text) => typeof text === "string");
}
