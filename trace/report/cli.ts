import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import {
  aBoolean,
  aDuration,
  aFunction,
  aPositiveNumber,
  rule,
} from "../../core/check/rules.ts";
import { codeLineOf } from "../export/attributes.ts";
import { checkTracer } from "../record/tracer_options.ts";
import type { SpanData, TraceData, Tracer } from "../types.ts";
import { formatTrace, type SpanNotes } from "./format_trace.ts";
import {
  createPaint,
  hyperlink,
  type Paint,
  standardOutput,
  wantsColor,
  wantsLinks,
} from "./terminal.ts";

/** Options of the terminal reporter. */
export interface CLIReporterOptions {
  /**
   * Called with the text of each trace. Default: prints it on standard output.
   */
  readonly write?: (text: string) => void;
  /**
   * Whether to use colours. Default: as `NO_COLOR` and `FORCE_COLOR` say, or
   * else if standard output is a terminal.
   */
  readonly color?: boolean;
  /** Minimum duration that stands out, in milliseconds. Default: 100. */
  readonly slowMs?: number;
  /** Maximum columns of a line. Default: the terminal's, or 120. */
  readonly width?: number;
  /**
   * URL of the viewer, such as `http://localhost:8000/__app/traces`, or a
   * function that returns it when it is known. Each trace then ends with a link
   * to it. Default: no links.
   */
  readonly viewerURL?: string | URL | (() => string | URL | undefined);
}

const OPTIONS: OptionRules<CLIReporterOptions> = {
  write: aFunction,
  color: aBoolean,
  slowMs: aDuration("milliseconds", { zero: true, endless: true }),
  width: aPositiveNumber,
  viewerURL: rule(
    "a URL, or a function that returns one",
    (value) =>
      typeof value === "function" || URL.canParse(value as string | URL),
  ),
};

/** A running reporter. */
export interface CLIReporter extends Disposable {
  /** Stops reporting. */
  close(): void;
}

/**
 * Prints a tree for each trace when it ends. The first line has method, path,
 * status and duration. Below is a line for each span, with its layer, duration
 * and work. Repeated spans, as in N+1 queries, share a line. With `viewerURL`, the
 * last line is a link to the trace.
 *
 * @param tracer Keeps the traces.
 * @param options How and where to print.
 * @throws {TypeError} If an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { createCLIReporter, createTracer } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * let printed = "";
 * const reporter = createCLIReporter(tracer, {
 *   write: (text) => printed += text,
 *   color: false,
 * });
 * tracer.withSpan("job", "custom", () => {});
 * reporter.close();
 * console.assert(printed.startsWith("job"));
 * ```
 */
export function createCLIReporter(
  tracer: Tracer,
  options: CLIReporterOptions = {},
): CLIReporter {
  const operation = "create CLI reporter";
  checkTracer(tracer, operation, "subscribe");
  checkOptions(options, OPTIONS, operation);
  return reportTraces(tracer, options);
}

/**
 * Prints the traces of a tracer.
 *
 * @param notesOf Returns lines to print below the lines of a trace's spans.
 */
export function reportTraces(
  tracer: Tracer,
  options: CLIReporterOptions,
  notesOf?: (trace: TraceData, paint: Paint) => SpanNotes,
): CLIReporter {
  const output = standardOutput();
  // In one piece, so that the trees of concurrent requests don't mix.
  const { write = output.write, slowMs = 100, viewerURL } = options;
  const paint = createPaint(options.color ?? wantsColor(output));
  const folder = output.cwd() ?? "";
  // Another `write` may print anywhere.
  const isLinked = viewerURL !== undefined && write === output.write &&
    wantsLinks(output);

  function linkTo({ id, rootSpanId }: TraceData): string | undefined {
    const base = typeof viewerURL === "function" ? viewerURL() : viewerURL;
    if (base === undefined) return undefined;
    const url = new URL(`#trace=${id}&span=${rootSpanId}`, base).href;
    return isLinked ? hyperlink(url, "open trace") : url;
  }

  const close = tracer.subscribe((event) => {
    if (event.type !== "trace:end") return;
    const { width = output.columns() } = options;
    const { trace } = event;
    const link = linkTo(trace);
    const notes = notesOf?.(trace, paint) ?? new Map();
    const lineOf = (span: SpanData) => codeLineOf(span, folder);
    write(
      formatTrace(trace, { paint, slow: slowMs, width, link, lineOf, notes }),
    );
  }, ["trace:end"]);
  return { close, [Symbol.dispose]: close };
}
