import { formatDuration, formatShare } from "../model/format.ts";
import type { SpanGroup } from "../model/groups.ts";
import { percentile } from "../model/route_stats.ts";
import { groupTime } from "../model/rows.ts";
import { tree } from "../state/selection.ts";

/** What repeated siblings cost together. */
export function GroupFacts({ group }: { group: SpanGroup }) {
  const durations = Float64Array.from(
    group.members,
    ({ span }) => span.duration,
  ).sort();
  const total = groupTime(group);
  const whole = tree.value?.trace.duration ?? 0;
  return (
    <section aria-label="Repeated spans">
      <p class="hint">
        The same span {group.members.length}{" "}
        times below one parent. One question for all of them may do.
      </p>
      <dl class="facts">
        <dt>Together</dt>
        <dd>
          {formatDuration(total)}
          <span class="muted">
            {formatShare(whole === 0 ? 0 : total / whole)} of the trace
          </span>
        </dd>
        <dt>Shortest</dt>
        <dd>{formatDuration(durations[0] ?? 0)}</dd>
        <dt>Median</dt>
        <dd>{formatDuration(percentile(durations, 50))}</dd>
        <dt>Longest</dt>
        <dd>{formatDuration(durations.at(-1) ?? 0)}</dd>
      </dl>
    </section>
  );
}
