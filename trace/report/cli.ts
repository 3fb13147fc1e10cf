import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import { checkDuration, checkFunction, refuseOption } from "../record/check.ts";
import type { Tracer } from "../types.ts";
import { formatTrace } from "./format_trace.ts";
import { standardOutput } from "./standard_output.ts";
import { createPaint, wantsColor } from "./terminal.ts";

/** Settings of the terminal reporter. */
export interface CLIReporterOptions {
  /** Takes the text, a whole trace at a time. Default: standard output. */
  readonly write?: (text: string) => void;
  /**
   * Whether to use colours. Default: `NO_COLOR` and `FORCE_COLOR` tell, else
   * whether standard output is a terminal.
   */
  readonly color?: boolean;
  /** Durations from here on stand out, in milliseconds. Default 100. */
  readonly slow?: number;
  /** Columns of a line. Default: those of the terminal, else 120. */
  readonly width?: number;
}

const OPTIONS: OptionRules<CLIReporterOptions> = {
  write: true,
  color: true,
  slow: true,
  width: true,
};

/** A running reporter. */
export interface CLIReporter {
  /** Stops reporting. */
  stop(): void;
  /** The same, at the end of the block of a `using`. */
  [Symbol.dispose](): void;
}

/**
 * Prints one tree for each trace that ends: a root line with method, path,
 * status and duration, and below it a line a span with layer, duration and
 * what it did. Spans that repeat, as in N+1 queries, share a line.
 *
 * @param tracer Keeps the traces.
 * @param options How and where to print.
 * @throws {TypeError} If an option isn't what its description says.
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
 * reporter.stop();
 * console.assert(printed.startsWith("job"));
 * ```
 */
export function createCLIReporter(
  tracer: Tracer,
  options: CLIReporterOptions = {},
): CLIReporter {
  checkOptions(options, OPTIONS, CREATE);
  const output = standardOutput();
  // In one piece, so that the trees of concurrent requests do not interleave.
  const { write = output.write, slow = 100 } = options;
  checkFunction(CREATE, "write", write);
  checkDuration(CREATE, "slow", slow);
  checkWidth(options.width);
  const color = options.color ?? wantsColor(output.env, output.isTerminal());
  const paint = createPaint(color);
  const stop = tracer.subscribe((event) => {
    if (event.type !== "trace:end") return;
    const width = options.width ?? (output.columns() || DEFAULT_WIDTH);
    write(formatTrace(event.trace, { paint, slow, width }));
  }, ["trace:end"]);
  return { stop, [Symbol.dispose]: stop };
}

const CREATE = "create CLI reporter";

function checkWidth(width: unknown): void {
  if (width === undefined || typeof width === "number" && width > 0) return;
  refuseOption(CREATE, "width must be a positive number", width);
}

/** Some terminals say that they have no columns at all. */
const DEFAULT_WIDTH = 120;
