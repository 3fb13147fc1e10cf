/**
 * The times of a span: its duration, its part of the trace, its clock, and its
 * earlier runs.
 *
 * @module
 */

import { useMemo } from "preact/hooks";
import { totalLength } from "../../trace/export/self_time.ts";
import {
  CLOCK_ERROR,
  CLOCK_SHIFT,
  isOpenSpan,
} from "../../trace/export/semantics.ts";
import type { SpanData } from "../../trace/types.ts";
import { useNow } from "../dom.ts";
import { criticalPath } from "../model/critical_path.ts";
import {
  formatCount,
  formatDelta,
  formatDuration,
  formatPlural,
  formatShare,
} from "../model/format.ts";
import { mostOf } from "../model/numbers.ts";
import { pastOf } from "../model/past.ts";
import { numberOf } from "../model/process.ts";
import { cutText } from "../model/text.ts";
import { selfTimeOf, type SpanNode, type TraceTree } from "../model/tree.ts";
import { connection } from "../state/live.ts";
import * as opened from "../state/opened.ts";
import { momentText } from "../state/settings.ts";
import { historyOf } from "../state/span_history.ts";
import { type Fact, Facts } from "./controls.tsx";

/** When a span ran, and for how long. */
export function TimeFacts({ node, tree }: { node: SpanNode; tree: TraceTree }) {
  const { span } = node;
  const { id, startTime, duration } = span;
  const path = useMemo(() => {
    // A comparison also has the spans of another trace.
    const isOpened = tree === opened.tree.value;
    const pathOf = isOpened ? opened.critical.value : criticalPath(tree);
    return pathOf?.(node);
  }, [tree, node]);
  const onPath = totalLength(path ?? []);
  const starts = formatDuration(startTime - tree.start);
  const self = selfTimeOf(node);
  const total = tree.end - tree.start;
  const onItself = path ? "through its children" : "not on it";
  const ended: Fact[] = [
    ["Duration", formatDuration(duration)],
    ["Self time", formatDuration(self), formatShare(self, duration)],
    [
      "Critical path",
      onPath > 0 ? formatDuration(onPath) : onItself,
      onPath > 0 ? `${formatShare(onPath, total)} of the trace` : undefined,
    ],
  ];
  const spanId = <span class="mono">{cutText(id, 64)}</span>;
  const runningTime = <RunningTime since={startTime} />;
  const running: Fact[] = [["Running", runningTime]];
  return (
    <section aria-label="Times">
      <Facts
        of={[
          ["Starts", starts, momentText(startTime)],
          ...(isOpenSpan(span) ? running : ended),
          ...trafficFacts(span),
          ...clockFacts(span),
          ["Span id", spanId],
        ]}
      />
      {node.detached && (
        <p class="hint">
          Long-lived work. It doesn't count in the trace's total.
        </p>
      )}
    </section>
  );
}

/** Counts on while the page is live. */
function RunningTime({ since, what = "for" }: {
  readonly since: number;
  readonly what?: "for" | "ago";
}) {
  const now = useNow(1000);
  if (connection.value.kind !== "live") {
    return <>{what === "for" ? "when it was saved" : momentText(since)}</>;
  }
  const time = formatDuration(
    Math.max(Math.round((now - since) / 1000) * 1000, 0),
  );
  return <>{what === "for" ? `for ${time}` : `${time} ago`}</>;
}

/** The messages of a subscription. */
function trafficFacts(span: SpanData): Fact[] {
  const messages = numberOf(span, "app.rpc.messages");
  if (messages === undefined) return [];
  const bytes = numberOf(span, "app.rpc.bytes");
  const last = numberOf(span, "app.rpc.last_message_time");
  const facts: Fact[] = [[
    "Messages",
    formatCount(messages),
    bytes === undefined ? undefined : `${formatCount(bytes)} bytes`,
  ]];
  if (last !== undefined) {
    const ago = <RunningTime since={last} what="ago" />;
    facts.push(["Last message", isOpenSpan(span) ? ago : momentText(last)]);
  }
  return facts;
}

/** The error and the shift of a process's clock. */
function clockFacts(span: SpanData): Fact[] {
  const facts: Fact[] = [];
  const error = numberOf(span, CLOCK_ERROR);
  const shift = numberOf(span, CLOCK_SHIFT);
  if (error !== undefined) {
    facts.push(["Clock error", `± ${formatDuration(error)}`]);
  }
  if (shift !== undefined) {
    facts.push(["Clock shift", formatDelta(shift), "to lie inside its caller"]);
  }
  return facts;
}

const HEIGHT = 22;
const BAR = 5;

/** Compares a span with its runs in other traces of the route. */
export function SpanPast({ span, tree }: { span: SpanData; tree: TraceTree }) {
  const times = historyOf(span, tree);
  const past = times && pastOf(span.duration, times);
  if (past === undefined) return null;
  const { count, faster, least, most, bars, own } = past;
  const highest = mostOf(bars, (bar) => bar, 1);
  const runs = `${formatPlural(count, "run")} on this route`;
  return (
    <section aria-label="History">
      <h4>History</h4>
      <p>
        {faster > 0
          ? `Slower than ${formatShare(faster)} of ${runs}`
          : `Faster than all ${runs}`}
      </p>
      <svg
        class="past"
        viewBox={`0 0 ${bars.length * BAR} ${HEIGHT}`}
        role="img"
        aria-label={`From ${formatDuration(least)} to ${formatDuration(most)}`}
      >
        {bars.map((bar, i) => {
          const height = bar === 0 ? 0 : Math.max(bar / highest * HEIGHT, 1.5);
          return (
            <rect
              key={i}
              class={i === own ? "own" : ""}
              x={i * BAR}
              y={HEIGHT - height}
              width={BAR - 1}
              height={height}
            />
          );
        })}
        <path d={`M${own * BAR + 2} 0v${HEIGHT}`} />
      </svg>
      <p class="past-ends muted">
        <span>{formatDuration(least)}</span>
        <span>{formatDuration(most)}</span>
      </p>
    </section>
  );
}
