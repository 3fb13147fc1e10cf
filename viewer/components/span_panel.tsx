import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import {
  exceptionOf,
  STATEMENT_ATTRIBUTES,
  statementOf,
} from "../../trace/export/attributes.ts";
import { totalLength } from "../../trace/export/self_time.ts";
import { isClientSpan } from "../../trace/export/semantics.ts";
import type { SpanData } from "../../trace/types.ts";
import { criticalPath } from "../model/critical_path.ts";
import { formatDuration, formatShare } from "../model/format.ts";
import { percentile } from "../model/listing.ts";
import { isGroup, type Unit, unitTime } from "../model/rows.ts";
import { formatSql } from "../model/sql.ts";
import { cutText } from "../model/text.ts";
import {
  isFailed,
  selfTimeOf,
  type SpanNode,
  type TraceTree,
} from "../model/tree.ts";
import { currentRequest } from "../state/copying.ts";
import { copyText } from "../state/files.ts";
import { selectedRow } from "../state/selection.ts";
import { momentText } from "../state/settings.ts";
import { Chip, Facts, Icon, Section, Swatch, Tool } from "./controls.tsx";
import { ValueText } from "./value_text.tsx";

/** Maximum attributes before "Show all". */
const SHOWN_ATTRIBUTES = 50;

/** Maximum events. */
const SHOWN_EVENTS = 100;

/** Longer statements are shown without highlighting. */
const MAX_TOKENS = 400;

/** The details of the selected row. */
export function SpanPanel({ unit, tree }: { unit: Unit; tree: TraceTree }) {
  const { id, node, members } = unit;
  const { span } = node;
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
        {isClientSpan(span) && <span class="tag">browser</span>}
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
        {isGroup(unit)
          ? <GroupFacts unit={unit} whole={tree.trace.duration} />
          : <TimeFacts node={node} tree={tree} />}
        <Failure span={span} />
        <Statement span={span} />
        <Attributes span={span} />
        <Events span={span} origin={tree.trace.startTime} />
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
    <Section label="Repeated spans">
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
    </Section>
  );
}

function TimeFacts({ node, tree }: { node: SpanNode; tree: TraceTree }) {
  const { id, startTime, duration } = node.span;
  const path = useMemo(() => criticalPath(tree)(node), [tree, node]);
  const onPath = totalLength(path ?? []);
  const starts = formatDuration(startTime - tree.trace.startTime);
  const self = selfTimeOf(node);
  const spanId = <span class="mono">{cutText(id, 64)}</span>;
  const onItself = path ? "through its children" : "not on it";
  return (
    <Section label="Times">
      <Facts
        of={[
          ["Starts", starts, momentText(startTime)],
          ["Duration", formatDuration(duration)],
          ["Self time", formatDuration(self), formatShare(self, duration)],
          ["Critical path", onPath > 0 ? formatDuration(onPath) : onItself],
          ["Span id", spanId],
        ]}
      />
    </Section>
  );
}

function Failure({ span }: { span: SpanData }) {
  const event = exceptionOf(span);
  if (event === undefined && !isFailed(span)) return null;
  const [type, message, stack] = ["type", "message", "stacktrace"]
    .map((name) => String(event?.attributes?.[`exception.${name}`] ?? ""));
  const head = [type, message].filter(Boolean).join(": ");
  const plain = event !== undefined
    ? "Exception"
    : span.status === "timeout"
    ? "Still open when its trace ended"
    : "Failed without an exception";
  // Most stacks begin with the message.
  const frames = head && stack?.startsWith(`${head}\n`)
    ? stack.slice(head.length + 1)
    : stack;
  return (
    <Section
      label="Error"
      class="failure"
      title={<ValueText text={head || plain} />}
    >
      {frames && <pre tabIndex={0}><ValueText text={frames} /></pre>}
    </Section>
  );
}

function Statement({ span }: { span: SpanData }) {
  const statement = statementOf(span);
  if (statement === undefined) return null;
  const tokens = formatSql(statement);
  return (
    <Section
      label="Statement"
      title={
        <>
          Statement
          <CopyButton text={statement} what="the statement" />
        </>
      }
    >
      <pre class="sql" tabIndex={0}>
        {tokens.length > MAX_TOKENS
          ? <ValueText text={statement} />
          : tokens.map(({ kind, text }, i) => (
            <span key={i} class={`sql-${kind}`}><ValueText text={text} /></span>
          ))}
      </pre>
    </Section>
  );
}

function Attributes({ span }: { span: SpanData }) {
  const { droppedAttributes = 0 } = span;
  const attributes = { ...span.attributes };
  // The statement has its own section.
  for (const name of STATEMENT_ATTRIBUTES) delete attributes[name];
  if (Object.keys(attributes).length + droppedAttributes === 0) return null;
  return (
    <Section label="Attributes" title="Attributes">
      <AttributeList of={attributes} />
      <Dropped count={droppedAttributes} />
    </Section>
  );
}

function AttributeList({ of }: { of: SpanData["attributes"] }) {
  const full = useSignal(false);
  const entries = Object.entries(of);
  if (entries.length === 0) return null;
  const shown = full.value ? entries : entries.slice(0, SHOWN_ATTRIBUTES);
  return (
    <dl class="attributes">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>
            <ValueText text={name} />
          </dt>
          <dd class={typeof value}>
            <ValueText text={String(value)} />
            <CopyButton text={String(value)} what={cutText(name, 60)} />
          </dd>
        </div>
      ))}
      {shown.length < entries.length && (
        <div>
          <dt />
          <dd>
            <Chip class="link" onClick={() => full.value = true}>
              Show all {entries.length}
            </Chip>
          </dd>
        </div>
      )}
    </dl>
  );
}

function CopyButton({ text, what }: { text: string; what: string }) {
  const copy = () => copyText(text, what);
  return (
    <Tool
      class="copy"
      icon="copy"
      label={`Copy ${what}`}
      onClick={copy}
    />
  );
}

/** The number of items that weren't recorded. */
function Dropped({ count }: { count: number }) {
  return count > 0 && <p class="muted">{count} more didn't fit</p>;
}

function Events({ span, origin }: { span: SpanData; origin: number }) {
  const { events, droppedEvents = 0 } = span;
  if (events.length === 0) return null;
  return (
    <Section label="Events" title="Events">
      <ol class="events">
        {events.slice(0, SHOWN_EVENTS).map((event, i) => (
          <li key={i}>
            <span class="event-time">
              {formatDuration(event.time - origin)}
            </span>
            <span>
              <ValueText text={event.name} />
              {event.name !== "exception" && (
                <AttributeList of={event.attributes ?? {}} />
              )}
            </span>
          </li>
        ))}
      </ol>
      <Dropped count={droppedEvents} />
    </Section>
  );
}
