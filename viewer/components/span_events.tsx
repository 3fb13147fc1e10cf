/**
 * The events of a span, and its log records.
 *
 * @module
 */

import type { SpanData, SpanEvent } from "../../trace/types.ts";
import { formatDuration } from "../model/format.ts";
import { AttributeList, Dropped, ValueText } from "./values.tsx";

/** Maximum events of a list. */
const SHOWN_EVENTS = 100;

/** Whether an event is a log record. */
function isLog({ name }: SpanEvent): boolean {
  return name === "log";
}

interface EventsProps {
  readonly span: SpanData;
  /** The zero of the times. */
  readonly origin: number;
}

/** The log records of a span. */
export function Logs({ span, origin }: EventsProps) {
  const logs = span.events.filter(isLog);
  if (logs.length === 0) return null;
  return (
    <section aria-label="Logs">
      <h4>Logs</h4>
      <ol class="events logs">
        {logs.slice(0, SHOWN_EVENTS).map((event, i) => (
          <Log key={i} event={event} origin={origin} />
        ))}
      </ol>
      <Dropped count={logs.length - SHOWN_EVENTS} />
    </section>
  );
}

function Log({ event, origin }: { event: SpanEvent; origin: number }) {
  const {
    "log.severity": severity = "",
    "log.body": body = "",
    ...others
  } = event.attributes ?? {};
  const level = String(severity).toLowerCase();
  return (
    <li>
      <span class="event-time">{formatDuration(event.time - origin)}</span>
      <span>
        <span
          class={/^(?:error|fatal)/.test(level)
            ? "bad"
            : level.startsWith("warn")
            ? "improvable"
            : "muted"}
        >
          {String(severity)}
        </span>{" "}
        <span class="mono">
          <ValueText text={String(body)} />
        </span>
        <AttributeList of={others} />
      </span>
    </li>
  );
}

/** The other events of a span. */
export function Events({ span, origin }: EventsProps) {
  const events = span.events.filter((event) => !isLog(event));
  const { droppedEvents = 0 } = span;
  if (events.length + droppedEvents === 0) return null;
  return (
    <section aria-label="Events">
      <h4>Events</h4>
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
      <Dropped
        count={Math.max(events.length - SHOWN_EVENTS, 0) + droppedEvents}
      />
    </section>
  );
}
