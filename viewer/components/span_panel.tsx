import {
  STATEMENT_ATTRIBUTES,
  statementOf,
} from "../../trace/export/attributes.ts";
import { isOpenSpan } from "../../trace/export/semantics.ts";
import type { SpanData } from "../../trace/types.ts";
import { formatDuration, formatShare } from "../model/format.ts";
import { percentile } from "../../trace/export/percentile.ts";
import { HOME, processOf } from "../model/process.ts";
import { isGroup, type Unit, unitTime } from "../model/rows.ts";
import { formatSql } from "../model/sql.ts";
import { cutText } from "../model/text.ts";
import type { TraceTree } from "../model/tree.ts";
import { currentRequest } from "../state/copying.ts";
import { selectedPlace } from "../state/editor.ts";
import { selectedRow } from "../state/selection.ts";
import { Chip, Facts, Icon, Swatch, Tool } from "./controls.tsx";
import { Events, Logs } from "./span_events.tsx";
import { Failure, Reason, REASON_ATTRIBUTES } from "./span_outcome.tsx";
import { SpanPast, TimeFacts } from "./span_times.tsx";
import { AttributeList, CopyButton, Dropped, ValueText } from "./values.tsx";

/** Longer statements are shown without highlighting. */
const MAX_TOKENS = 400;

/** The details of the selected row. */
export function SpanPanel({ unit, tree }: { unit: Unit; tree: TraceTree }) {
  const { id, node, members } = unit;
  const { span } = node;
  const process = processOf(span);
  const place = selectedPlace();
  return (
    <aside
      class="span-panel"
      id="details"
      aria-label="Span details"
      tabIndex={0}
      data-place="details"
      key={id}
    >
      <header>
        <Swatch layer={span.layer} />
        <h3>
          {cutText(span.name, 300)}
          {isGroup(unit) && ` × ${members.length}`}
        </h3>
        <span class="muted">{span.layer}</span>
        {place !== undefined && (
          <Chip class="link" title="Open in the editor" hotkey="o">
            {cutText(place.split("/").at(-1)!, 60)}
          </Chip>
        )}
        {process !== HOME && <span class="tag">{cutText(process, 60)}</span>}
        <div class="panel-actions">
          <Chip title="Copy as JSON" hotkey="y">
            <Icon name="copy" /> JSON
          </Chip>
          {currentRequest() !== undefined && (
            <Chip title="Copy the request as curl" hotkey="Y">
              <Icon name="copy" /> curl
            </Chip>
          )}
          <Tool
            icon="close"
            label="Close the details"
            hotkey="Esc"
            onClick={() => selectedRow.value = ""}
          />
        </div>
      </header>
      <div class="panel-columns">
        <Reason span={span} />
        {isGroup(unit)
          ? <GroupFacts unit={unit} whole={tree.end - tree.start} />
          : (
            <>
              <TimeFacts node={node} tree={tree} />
              {!isOpenSpan(span) && <SpanPast span={span} tree={tree} />}
            </>
          )}
        <Failure node={node} />
        <Statement span={span} />
        <Attributes span={span} />
        <Logs span={span} origin={tree.start} />
        <Events span={span} origin={tree.start} />
      </div>
    </aside>
  );
}

/** The total and the spread of repeated siblings. */
function GroupFacts({ unit, whole }: { unit: Unit; whole: number }) {
  const { members } = unit;
  const durations = Float64Array.from(members, ({ span }) => span.duration)
    .sort();
  const total = unitTime(unit);
  const share = `${formatShare(total, whole)} of the trace`;
  return (
    <section aria-label="Repeated spans">
      <p class="hint">
        The same span {members.length}{" "}
        times below one parent: one call may do for all.
      </p>
      <Facts
        of={[
          ["Together", formatDuration(total), share],
          ["Shortest", formatDuration(durations[0] ?? 0)],
          ["Median", formatDuration(percentile(durations, 50))],
          ["Longest", formatDuration(durations.at(-1) ?? 0)],
        ]}
      />
    </section>
  );
}

function Statement({ span }: { span: SpanData }) {
  const statement = statementOf(span);
  if (statement === undefined) return null;
  const tokens = formatSql(statement);
  return (
    <section aria-label="Statement">
      <h4>
        Statement
        <CopyButton text={statement} what="the statement" />
      </h4>
      <pre class="sql" tabIndex={0}>
        {tokens.length > MAX_TOKENS
          ? <ValueText text={statement} />
          : tokens.map(({ kind, text }, i) => (
            <span key={i} class={`sql-${kind}`}><ValueText text={text} /></span>
          ))}
      </pre>
    </section>
  );
}

function Attributes({ span }: { span: SpanData }) {
  const { droppedAttributes = 0 } = span;
  const attributes = { ...span.attributes };
  // These have their own sections.
  for (const name of [...STATEMENT_ATTRIBUTES, ...REASON_ATTRIBUTES]) {
    delete attributes[name];
  }
  if (Object.keys(attributes).length + droppedAttributes === 0) return null;
  return (
    <section aria-label="Attributes">
      <h4>Attributes</h4>
      <AttributeList of={attributes} />
      <Dropped count={droppedAttributes} />
    </section>
  );
}
