import { formatDuration, formatShare } from "../model/format.ts";
import { percentile } from "../model/route_stats.ts";
import { membersOf, type Unit, unitTime } from "../model/rows.ts";

/** What repeated siblings cost together. */
export function GroupFacts({ unit, whole }: { unit: Unit; whole: number }) {
  const members = membersOf(unit);
  const durations = Float64Array.from(members, ({ span }) => span.duration)
    .sort();
  const total = unitTime(unit);
  return (
    <section aria-label="Repeated spans">
      <p class="hint">
        The same span {members.length}{" "}
        times below one parent: one question may do for all.
      </p>
      <dl class="facts">
        <dt>Together</dt>
        <dd>
          {formatDuration(total)}
          <span class="muted">
            {formatShare(total, whole)} of the trace
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
