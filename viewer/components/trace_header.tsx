import {
  formatCount,
  formatDuration,
  formatPlural,
  formatShare,
} from "../model/format.ts";
import { sumOf } from "../model/numbers.ts";
import { unitTime } from "../model/rows.ts";
import { inLayerOrder, type TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import type { TraceTree } from "../model/tree.ts";
import type { TraceView } from "../model/url_state.ts";
import { copyText } from "../state/files.ts";
import * as listing from "../state/listing.ts";
import * as opened from "../state/opened.ts";
import * as selection from "../state/selection.ts";
import { momentText } from "../state/settings.ts";
import { Chip, Outcome, Request, Swatch, Tool } from "./controls.tsx";

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
          <Request {...entry} />
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
        <ViewButton id="waterfall" label="Waterfall" />
        <ViewButton id="flame" label="Flame graph" />
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

function ViewButton({ id, label }: { id: TraceView; label: string }) {
  return (
    <Chip
      class="tab"
      aria-pressed={selection.view.value === id}
      title={label}
      hotkey="f"
      onClick={() => selection.view.value = id}
    >
      {label}
    </Chip>
  );
}

/** Links to errors, matches and repeated spans. */
function Findings() {
  const errors = opened.failures.value.length;
  const found = opened.matches.value.length;
  const group = opened.repeated.value;
  return (
    <div class="findings">
      {errors > 0 && (
        <Chip class="finding bad" title="Next error" hotkey="e">
          {formatPlural(errors, "error")}
        </Chip>
      )}
      {listing.query.value !== "" && (
        <Chip class="finding match" title="Next match" hotkey="n">
          {found === 1 ? "1 match" : `${formatCount(found)} matches`}
        </Chip>
      )}
      {group !== undefined && (
        <Chip
          class="finding"
          title="Repeated spans: go to the first"
          onClick={() => {
            selection.revealSpan(group.node.index);
            if (opened.grouped.value) selection.selectedRow.value = group.id;
          }}
        >
          {cutText(group.node.span.name, 40)}
          {` × ${formatCount(group.members.length)}, `}
          {formatDuration(unitTime(group))}
        </Chip>
      )}
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
