import { useLater } from "../dom.ts";
import {
  formatCount,
  formatDelta,
  formatDuration,
  formatPlural,
  formatShare,
} from "../model/format.ts";
import { sumOf } from "../model/numbers.ts";
import { type Clocks, clocksOf } from "../model/clock.ts";
import { HOME, processOf } from "../model/process.ts";
import { inLayerOrder, type TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import type { TraceTree } from "../model/tree.ts";
import { copyText } from "../state/files.ts";
import { foundInTrace, openFound } from "../state/dev_command.ts";
import * as listing from "../state/listing.ts";
import * as rows from "../state/rows.ts";
import * as opened from "../state/opened.ts";
import * as selection from "../state/selection.ts";
import { momentText } from "../state/settings.ts";
import { Chip, Outcome, Swatch, Title, Tool } from "./controls.tsx";

/** The title, facts and actions of the open trace. */
export function TraceHeader(
  { entry, tree }: { entry: TraceEntry; tree: TraceTree },
) {
  const { droppedSpans = 0 } = tree.trace.metadata;
  return (
    <header class="trace-header">
      <div class="trace-title">
        <Tool
          icon="back"
          label="Close the trace"
          hotkey="Esc"
          onClick={selection.closeTrace}
        />
        <h2 title={cutText(entry.path, 500)}>
          <Title entry={entry} />
        </h2>
        <TraceActions entry={entry} />
      </div>
      <div class="trace-facts">
        <Outcome entry={entry} />
        {droppedSpans > 0 && (
          <span class="bad">
            {formatCount(droppedSpans)} more didn't fit
          </span>
        )}
        {entry.route !== "" && entry.route !== entry.path && (
          <span class="muted">{cutText(entry.route, 100)}</span>
        )}
        <Processes tree={tree} />
        <Vitals />
        <ClockNotes tree={tree} />
        <span class="muted">{momentText(entry.startTime)}</span>
        <Chip
          class="trace-id"
          title="Copy the trace id"
          onClick={() => copyText(entry.id, "the trace id")}
        >
          {cutText(entry.id, 32)}
        </Chip>
        <Findings />
      </div>
    </header>
  );
}

/** The views of a trace, their names and keys. */
const VIEWS = [
  ["waterfall", "Waterfall", "w"],
  ["flame", "Flame graph", "f"],
  ["table", "Table", "s"],
] as const;

function TraceActions({ entry }: { entry: TraceEntry }) {
  const marked = selection.markedKey.value;
  const label = marked === entry.key
    ? "Marked: open another"
    : marked === ""
    ? "Compare"
    : "Compare with marked";
  return (
    <div class="trace-actions">
      <div class="tabs" role="group" aria-label="View">
        {VIEWS.map(([view, label, hotkey]) => (
          <Chip
            class="tab"
            key={view}
            aria-pressed={selection.view.value === view}
            title={label}
            hotkey={hotkey}
            onClick={() => selection.view.value = view}
          >
            {label}
          </Chip>
        ))}
      </div>
      <Chip
        aria-pressed={opened.showCritical.value}
        title="The chain of spans that decided when the trace ended"
        hotkey="c"
      >
        Critical path
      </Chip>
      <Chip
        aria-pressed={opened.grouped.value}
        title="Repeated siblings as one row"
        hotkey="u"
      >
        Group
      </Chip>
      <Chip
        aria-pressed={marked === entry.key}
        title="Mark this trace, then compare it with another"
        hotkey="x"
        onClick={() => selection.markOrCompare(entry.key)}
      >
        {label}
      </Chip>
    </div>
  );
}

/** The processes of a trace with several. */
function Processes({ tree }: { tree: TraceTree }) {
  const text = useLater(() => {
    const names = new Set(tree.nodes.map(({ span }) => processOf(span)));
    return names.size > 1 ? cutText([...names].join(", "), 100) : "";
  }, [tree]);
  return text && (
    <span class="muted extra" title="The processes of this trace">{text}</span>
  );
}

/** The web vitals of a page load. */
function Vitals() {
  return rows.vitals.value.vitals.map(({ name, title, text, rating }) => (
    <span
      key={name}
      class={rating === "good" ? "muted extra" : rating}
      title={`${title}: ${rating}`}
    >
      {name} {text}
    </span>
  ));
}

const EXACT: Clocks = { error: undefined, shifts: [] };

/** Notes on clocks that may mislead a reader. */
function ClockNotes({ tree }: { tree: TraceTree }) {
  const { error, shifts } = useLater(() => clocksOf(tree), [tree]) ?? EXACT;
  const first = shifts[0];
  const others = shifts.length > 1 ? ` and ${shifts.length - 1} more` : "";
  return (
    <>
      {error !== undefined && (
        <span
          class="improvable"
          title="The browser's clock is known only to this precision. Shorter gaps between browser and server have no meaning."
        >
          clock ± {formatDuration(error)}
        </span>
      )}
      {first !== undefined && (
        <Chip
          class="link"
          title="The clocks differ, so these spans were moved into their caller"
          onClick={() => selection.revealSpan(first.node.index)}
        >
          {cutText(first.process === HOME ? "clock" : first.process, 40)}
          {others} moved by {formatDelta(first.shift)}
        </Chip>
      )}
    </>
  );
}

/** Links to errors, matches and repeated work. */
function Findings() {
  const errors = rows.failures.value.length;
  const found = rows.matches.value.length;
  const picked = rows.highlightedWork.value;
  const repeats = useLater(() => rows.repeated.value, [opened.tree.value]) ??
    [];
  const causes = foundInTrace.value;
  const isNamed = causes.some(({ rule }) => rule.startsWith("repeated"));
  return (
    <div class="findings">
      {errors > 0 && (
        <Chip class="finding bad" title="Next error" hotkey="e">
          {formatPlural(errors, "error")}
        </Chip>
      )}
      {(picked !== undefined || listing.query.value !== "") && (
        <Chip class="finding match" title="Next match" hotkey="n">
          {found === 1 ? "1 match" : `${formatCount(found)} matches`}
        </Chip>
      )}
      {picked !== undefined && (
        <Tool
          icon="close"
          label="Clear the highlight"
          onClick={() => rows.highlighted.value = ""}
        />
      )}
      {causes.map((item) => (
        <Chip
          class="finding match"
          key={item.key}
          title={item.rule}
          onClick={() => openFound(item)}
        >
          <span class="clip">{cutText(item.message, 200)}</span>
          {` ${cutText(item.location, 100)}`}
        </Chip>
      ))}
      {!isNamed && repeats.map((work) => (
        <Chip
          class="finding"
          key={work.id}
          title={`Repeated ${work.kind}: show all in the table`}
          onClick={() => selection.showWork(work, "table")}
        >
          {formatCount(work.count)} ×{" "}
          <span class="clip">{cutText(work.name, 200)}</span>
          , {formatDuration(work.total)}
        </Chip>
      ))}
    </div>
  );
}

/** The layers of a trace and their self times. A click hides a layer. */
export function LayerLegend({ entry }: { entry: TraceEntry }) {
  const layers = inLayerOrder(entry.layers);
  const total = sumOf(layers, ([, time]) => time);
  const present = layers.map(([layer]) => layer);
  return (
    <div class="legend" role="group" aria-label="Layers">
      {layers.map(([layer, time]) => (
        <Chip
          class=""
          key={layer}
          aria-pressed={!opened.hiddenLayers.value.has(layer)}
          title={`${layer}: ${formatDuration(time)} of self time, ${
            formatShare(time, total)
          }. Double click: this layer alone`}
          onClick={() => opened.toggleLayer(layer)}
          onDblClick={() => opened.isolateLayer(layer, present)}
        >
          <Swatch layer={layer} />
          {layer}
          <span class="muted">{formatDuration(time)}</span>
        </Chip>
      ))}
    </div>
  );
}
