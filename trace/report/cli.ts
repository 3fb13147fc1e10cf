import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import {
  aBoolean,
  aDuration,
  aFunction,
  aPositiveNumber,
} from "../../core/check/rules.ts";
import { aTracer } from "../record/tracer_rule.ts";
import type { Tracer } from "../types.ts";
import { formatTrace } from "./format_trace.ts";
import { createPaint, standardOutput, wantsColor } from "./terminal.ts";

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
}

const OPTIONS: OptionRules<CLIReporterOptions> = {
  write: aFunction,
  color: aBoolean,
  slowMs: aDuration("milliseconds", { zero: true, endless: true }),
  width: aPositiveNumber,
};

/** A running reporter. */
export interface CLIReporter {
  /** Stops reporting. */
  close(): void;
  /** Calls `close()`. */
  [Symbol.dispose](): void;
}

/**
 * Prints a tree for each trace when it ends. The first line has method, path,
 * status and duration. Below is a line for each span, with its layer, duration
 * and work. Repeated spans, as in N+1 queries, share a line.
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
  checkValue(tracer, "tracer", aTracer("subscribe"), operation);
  checkOptions(options, OPTIONS, operation);
  const output = standardOutput();
  // In one piece, so that the trees of concurrent requests don't mix.
  const { write = output.write, slowMs = 100 } = options;
  const color = options.color ?? wantsColor(output.env, output.isTerminal());
  const paint = createPaint(color);
  const close = tracer.subscribe((event) => {
    if (event.type !== "trace:end") return;
    const width = options.width ?? (output.columns() || DEFAULT_WIDTH);
    write(formatTrace(event.trace, { paint, slow: slowMs, width }));
  }, ["trace:end"]);
  return { close, [Symbol.dispose]: close };
}

/** Some terminals report zero columns. */
const DEFAULT_WIDTH = 120;
