import {
  exceptionOf,
  STATEMENT_ATTRIBUTES,
  statementOf,
} from "../../trace/export/attributes.ts";
import { isClientSpan } from "../../trace/export/semantics.ts";
import type { AttributeValue, SpanEvent } from "../../trace/types.ts";
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { criticalPath } from "../model/critical_path.ts";
import { formatDuration, formatMoment, formatShare } from "../model/format.ts";
import { totalLength } from "../../trace/export/self_time.ts";
import type { Unit } from "../model/rows.ts";
import { formatSql } from "../model/sql.ts";
import { cutText } from "../model/text.ts";
import {
  isFailed,
  selfTimeOf,
  type SpanNode,
  type TraceTree,
} from "../model/tree.ts";
import { copyCurl, copyJson, currentCurl } from "../state/copying.ts";
import { copyText } from "../state/files.ts";
import { selectedRow } from "../state/selection.ts";
import { Chip, Swatch, Tool } from "./controls.tsx";
import { GroupFacts } from "./group_facts.tsx";
import { Icon } from "./icon.tsx";
import { ValueText } from "./value_text.tsx";

/** How many attributes are shown before they are asked for. */
const SHOWN_ATTRIBUTES = 50;

/** Everything that is known about the selected row. */
export function SpanPanel({ unit, tree }: { unit: Unit; tree: TraceTree }) {
  const { id, node, group } = unit;
  const { span } = node;
  const statement = statementOf(span);
  const exception = exceptionOf(span);
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
          {group !== undefined && ` × ${group.members.length}`}
        </h3>
        <span class="muted">{span.layer}</span>
        {isClientSpan(span) && <span class="tag">browser</span>}
        <div class="panel-actions">
          <Chip onClick={copyJson} title="Copy as JSON (y)">
            <Icon name="copy" /> JSON
          </Chip>
          {currentCurl() !== undefined && (
            <Chip onClick={copyCurl} title="Copy the request as curl (Y)">
              <Icon name="copy" /> curl
            </Chip>
          )}
          <Tool
            icon="close"
            label="Close the details"
            hotkey="Esc"
            onClick={() => {
              selectedRow.value = "";
            }}
          />
        </div>
      </header>
      <div class="panel-columns">
        {group !== undefined
          ? <GroupFacts unit={unit} whole={tree.trace.duration} />
          : <TimeFacts node={node} tree={tree} />}
        {(exception !== undefined || isFailed(span)) && (
          <Failure event={exception} status={span.status} />
        )}
        {statement !== undefined && <Statement statement={statement} />}
        <Attributes
          attributes={span.attributes}
          dropped={span.droppedAttributes ?? 0}
        />
        {span.events.length > 0 && (
          <Events
            events={span.events}
            dropped={span.droppedEvents ?? 0}
            origin={tree.trace.startTime}
          />
        )}
      </div>
    </aside>
  );
}

function TimeFacts({ node, tree }: { node: SpanNode; tree: TraceTree }) {
  const { span } = node;
  const path = useMemo(() => criticalPath(tree)(node), [tree, node]);
  const onPath = totalLength(path ?? []);
  const self = selfTimeOf(node);
  return (
    <section aria-label="Times">
      <dl class="facts">
        <dt>Starts</dt>
        <dd>
          {formatDuration(span.startTime - tree.trace.startTime)}
          <span class="muted">{formatMoment(span.startTime)}</span>
        </dd>
        <dt>Duration</dt>
        <dd>{formatDuration(span.duration)}</dd>
        <dt>Self time</dt>
        <dd>
          {formatDuration(self)}
          <span class="muted">{formatShare(self, span.duration)}</span>
        </dd>
        <dt>Critical path</dt>
        <dd>
          {onPath > 0
            ? formatDuration(onPath)
            : path
            ? "through its children"
            : "not on it"}
        </dd>
        <dt>Span id</dt>
        <dd class="mono">{cutText(span.id, 64)}</dd>
      </dl>
    </section>
  );
}

interface FailureProps {
  readonly event: SpanEvent | undefined;
  readonly status: string;
}

function Failure({ event, status }: FailureProps) {
  const [type, message, stack] = ["type", "message", "stacktrace"]
    .map((name) => String(event?.attributes?.[`exception.${name}`] ?? ""));
  const head = [type, message].filter((part) => part !== "").join(": ");
  const plain = event !== undefined
    ? "Exception"
    : status === "timeout"
    ? "Still open when its trace ended"
    : "Failed without an exception";
  return (
    <section class="failure" aria-label="Error">
      <h4>
        <ValueText text={head || plain} />
      </h4>
      {stack && (
        <pre tabIndex={0}><ValueText text={withoutHead(stack, head)} /></pre>
      )}
    </section>
  );
}

/** A stack without its first line, if that only repeats the message. */
function withoutHead(stack: string, head: string): string {
  return head !== "" && stack.startsWith(`${head}\n`)
    ? stack.slice(head.length + 1)
    : stack;
}

function Statement({ statement }: { statement: string }) {
  const tokens = formatSql(statement);
  return (
    <section aria-label="Statement">
      <h4>
        Statement
        <CopyButton text={statement} what="the statement" />
      </h4>
      <pre class="sql" tabIndex={0}>
        {tokens.length > 400
          ? <ValueText text={statement} />
          : tokens.map(({ kind, text }, i) =>
            kind === "other"
              ? <ValueText key={i} text={text} />
              : <span key={i} class={`sql-${kind}`}><ValueText text={text} /></span>
          )}
      </pre>
    </section>
  );
}

interface AttributesProps {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly dropped: number;
}

function Attributes({ attributes, dropped }: AttributesProps) {
  // The statement has its own place.
  const entries = Object.entries(attributes)
    .filter(([name]) => !STATEMENT_ATTRIBUTES.includes(name));
  if (entries.length === 0 && dropped === 0) return null;
  return (
    <section aria-label="Attributes">
      <h4>Attributes</h4>
      <AttributeList entries={entries} />
      <Dropped count={dropped} />
    </section>
  );
}

function AttributeList(
  { entries }: { entries: readonly [string, AttributeValue][] },
) {
  const full = useSignal(false);
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
            <Chip
              class="link"
              onClick={() => {
                full.value = true;
              }}
            >
              Show all {entries.length}
            </Chip>
          </dd>
        </div>
      )}
    </dl>
  );
}

function CopyButton({ text, what }: { text: string; what: string }) {
  return (
    <Chip
      class="copy"
      aria-label={`Copy ${what}`}
      onClick={() => copyText(text, what)}
    >
      <Icon name="copy" />
    </Chip>
  );
}

/** How much of a list the recorder left out. */
function Dropped({ count }: { count: number }) {
  return count > 0 ? <p class="muted">{count} more didn't fit</p> : null;
}

interface EventsProps {
  readonly events: readonly SpanEvent[];
  readonly dropped: number;
  /** The moment that times count from. */
  readonly origin: number;
}

function Events({ events, dropped, origin }: EventsProps) {
  return (
    <section aria-label="Events">
      <h4>Events</h4>
      <ol class="events">
        {events.slice(0, 100).map((event, i) => (
          <li key={i}>
            <span class="event-time">
              {formatDuration(event.time - origin)}
            </span>
            <span>
              <ValueText text={event.name} />
              {event.attributes !== undefined && event.name !== "exception" && (
                <AttributeList entries={Object.entries(event.attributes)} />
              )}
            </span>
          </li>
        ))}
      </ol>
      <Dropped count={dropped} />
    </section>
  );
}
