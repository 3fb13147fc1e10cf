import { checkOptions, checkValue, closest } from "../../core/check/options.ts";
import { rule } from "../../core/check/rules.ts";
import { attributeText, isQuery, statementOf } from "../export/attributes.ts";
import { statementShape } from "../export/statement_shape.ts";
import type { SerializedTrace, SpanData, TraceData } from "../types.ts";
import {
  CACHE,
  type CacheCheckOptions,
  LAYER,
  QUERIES,
  type QueryCheckOptions,
  requireOne,
  type SpanCheckOptions,
  SPANS,
} from "./check_options.ts";
import { compareCount, countEach, describeFailure, fail } from "./evidence.ts";

const aTrace = rule(
  "a trace, such as the one of recordTrace()",
  (value) => {
    const { spans, metadata } = Object(value);
    return typeof spans?.values === "function" && Object(metadata) === metadata;
  },
);

const aName = rule(
  "a string or a regular expression",
  (value) => typeof value === "string" || value instanceof RegExp,
);

/** Statements that control transactions. */
const TRANSACTION =
  /^(?:begin|start|commit|end|rollback|savepoint|release|set)\b/i;

/** The checks of a trace. Each returns the object, for the next check. */
export class TraceExpectation {
  readonly #rootSpanId: string;
  readonly #spans: readonly SpanData[];
  readonly #byId: ReadonlyMap<string, SpanData>;

  /** @internal */
  constructor({ rootSpanId, spans }: TraceData | SerializedTrace) {
    this.#rootSpanId = rootSpanId;
    this.#spans = [...spans.values()];
    this.#byId = new Map(this.#spans.map((span) => [span.id, span]));
  }

  /**
   * Checks the number of database queries, and how often a statement runs again.
   * Statements such as `BEGIN` count as queries.
   *
   * @param options The expected numbers.
   * @throws {Error} If the numbers differ, with the name `AssertionError`.
   * @throws {TypeError} If an option is wrong or unknown, or if all are missing.
   */
  queries(options: QueryCheckOptions): this {
    checkOptions(options, QUERIES, "check queries");
    requireOne(options, QUERIES, "check queries");
    const queries = this.#spans.filter(isQuery).map((span) => {
      const shape = statementShape(statementOf(span) ?? span.name).trim();
      return { shape, text: `${shape}${this.#cause(span)}` };
    });
    const problem = compareCount(queries.length, options, ["query", "queries"]);
    if (problem !== undefined) fail(problem, textsOf(queries), this.queries);

    const { repeated = Infinity } = options;
    const counts = countEach(queries.map(({ shape }) => shape));
    const found = queries.filter(({ shape }) =>
      counts.get(shape)! - 1 > repeated && !TRANSACTION.test(shape)
    );
    if (found.length === 0) return this;
    const limit = repeated === 0
      ? "no repeated queries"
      : `no query to run more than ${repeated + 1} times`;
    const { size } = new Set(found.map(({ shape }) => shape));
    fail(`Expected ${limit}, found ${size}`, textsOf(found), this.queries);
  }

  /**
   * Checks the number of spans with a name. Without `exactly`, `min` and `max`, at
   * least one is expected.
   *
   * @param name The whole name, or a regular expression.
   * @param options The expected layer and numbers.
   * @throws {Error} If the number differs, with the name `AssertionError`.
   * @throws {TypeError} If the name or an option is wrong, or an option is unknown.
   */
  span(name: string | RegExp, options: SpanCheckOptions = {}): this {
    checkOptions(options, SPANS, "check spans");
    const { exactly, max, min } = options;
    const least = exactly === undefined && max === undefined ? 1 : 0;
    this.#checkSpans(name, { ...options, min: min ?? least }, this.span);
    return this;
  }

  /**
   * Checks that no span has a name.
   *
   * @param name The whole name, or a regular expression.
   * @param options The layer.
   * @throws {Error} If there is one, with the name `AssertionError`.
   * @throws {TypeError} If the name or an option is wrong, or an option is unknown.
   */
  noSpan(
    name: string | RegExp,
    options: Pick<SpanCheckOptions, "layer"> = {},
  ): this {
    checkOptions(options, LAYER, "check spans");
    this.#checkSpans(name, { ...options, exactly: 0 }, this.noSpan);
    return this;
  }

  /**
   * Checks that no span failed and each has ended. Handled errors count too.
   * Answers with a status below 500 aren't errors.
   *
   * @throws {Error} If there is one, with the name `AssertionError`.
   */
  noErrors(): this {
    const failed = this.#spans.filter((span) =>
      span.status !== "ok" && !this.#onlyPassesOn(span)
    );
    if (failed.length === 0) return this;
    const problem = `Expected no errors, found ${failed.length}`;
    fail(problem, failed.map(describeFailure), this.noErrors);
  }

  /**
   * Checks the exact numbers of results of the cache.
   *
   * @param options The expected numbers.
   * @throws {Error} If one differs, with the name `AssertionError`.
   * @throws {TypeError} If an option is wrong or unknown, or if all are missing.
   */
  cache(options: CacheCheckOptions): this {
    checkOptions(options, CACHE, "check cache");
    requireOne(options, CACHE, "check cache");
    const results = this.#spans.flatMap((span) => {
      const result = attributeText(span, "app.cache.result");
      if (result === undefined) return [];
      const key = attributeText(span, "app.cache.key") ?? span.name;
      return [{ result, text: `${result} ${key}${this.#cause(span)}` }];
    });
    const expected = [
      ["hit", options.hits, ["cache hit", "cache hits"]],
      ["stale", options.stale, ["stale value", "stale values"]],
      ["miss", options.misses, ["cache miss", "cache misses"]],
    ] as const;
    for (const [name, exactly, nouns] of expected) {
      if (exactly === undefined) continue;
      const found = results.filter(({ result }) => result === name).length;
      const problem = compareCount(found, { exactly }, nouns);
      if (problem !== undefined) fail(problem, textsOf(results), this.cache);
    }
    return this;
  }

  /** Returns the name of the nearest span that isn't a query, in brackets. */
  #cause({ parentId }: SpanData): string {
    // Also ends at a cycle of parents.
    for (let steps = this.#spans.length; steps > 0; steps--) {
      const parent = this.#byId.get(parentId ?? "");
      if (parent === undefined || parent.id === this.#rootSpanId) break;
      if (parent.layer !== "database") return ` (${parent.name})`;
      ({ parentId } = parent);
    }
    return "";
  }

  /** Whether an error came from a span below, where it was recorded. */
  #onlyPassesOn({ events, children }: SpanData): boolean {
    return !events.some(({ name }) => name === "exception") &&
      children.some((id) => (this.#byId.get(id)?.status ?? "ok") !== "ok");
  }

  #checkSpans(
    name: string | RegExp,
    options: SpanCheckOptions,
    check: (...args: never[]) => unknown,
  ): void {
    checkValue(name, "name", aName, "check spans");
    const { layer } = options;
    const inLayer = this.#spans.filter((span) =>
      layer === undefined || span.layer === layer
    );
    const found = inLayer.filter((span) =>
      // Unlike `test()`, this ignores the `lastIndex` of a regular expression.
      typeof name === "string"
        ? span.name === name
        : span.name.search(name) >= 0
    );
    const called = `${typeof name === "string" ? JSON.stringify(name) : name}${
      layer === undefined ? "" : ` of layer ${layer}`
    }`;
    const nouns = [`span ${called}`, `spans ${called}`] as const;
    const problem = compareCount(found.length, options, nouns);
    if (problem === undefined) return;
    if (found.length > 0) fail(problem, found.map(({ name }) => name), check);
    const names = inLayer.map((span) => span.name);
    const meant = typeof name === "string" ? closest(name, names) : undefined;
    const hint = meant === undefined
      ? ""
      : `; the closest name is ${JSON.stringify(meant)}`;
    fail(`${problem}${hint}`, names, check);
  }
}

function textsOf(items: readonly { readonly text: string }[]): string[] {
  return items.map(({ text }) => text);
}

/**
 * Begins the checks of a trace: of {@linkcode recordTrace}, of a tracer, or of a
 * file.
 *
 * @param trace The trace.
 * @throws {TypeError} If it isn't a trace.
 * @throws {Error} If spans were dropped from it, with the name `AssertionError`.
 *
 * @example
 * ```ts
 * import { traceQuery } from "@quartet/kit/trace";
 * import { expectTrace, recordTrace } from "@quartet/kit/trace/testing";
 *
 * const { trace } = await recordTrace(async () => {
 *   for (const id of [1, 2, 3]) {
 *     await traceQuery("SELECT name FROM author WHERE id = ?", () => [id]);
 *   }
 * });
 * expectTrace(trace).noErrors().queries({ max: 3, repeated: 2 });
 * ```
 */
export function expectTrace(
  trace: TraceData | SerializedTrace,
): TraceExpectation {
  checkValue(trace, "trace", aTrace, "check trace");
  const { droppedSpans = 0 } = trace.metadata;
  if (droppedSpans > 0) {
    const problem = `Expected no dropped spans, found ${droppedSpans}`;
    fail(`${problem}; raise maxSpansPerTrace of the tracer`, [], expectTrace);
  }
  return new TraceExpectation(trace);
}
