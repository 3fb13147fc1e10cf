/**
 * Elements that several parts of the page share.
 *
 * @module
 */

import { type ComponentChildren, type ComponentProps, Fragment } from "preact";
import type { Layer } from "../../trace/types.ts";
import { formatDuration, formatPlural } from "../model/format.ts";
import { isAction, isFailedTrace, type TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import { runKey } from "../state/keyboard.ts";

/** Joins classes, without empty or false ones. */
export function classes(...names: (string | false)[]): string {
  return names.filter(Boolean).join(" ");
}

/** A square of a layer's colour. */
export function Swatch({ layer }: { layer: Layer }) {
  return (
    <span
      class="swatch"
      title={layer}
      style={{ background: `var(--layer-${layer})` }}
    />
  );
}

interface ToolProps {
  readonly icon: IconName;
  /** The tooltip, and the name for assistive technology. */
  readonly label: string;
}

/** A button that is an icon. */
export function Tool({ icon, label, ...props }: ToolProps & ChipProps) {
  return (
    <Chip class="tool" title={label} aria-label={label} {...props}>
      <Icon name={icon} />
    </Chip>
  );
}

interface ChipProps extends ComponentProps<"button"> {
  /** The key for the same action, which the tooltip names. */
  readonly hotkey?: string;
}

/**
 * A button with a text. Another class changes its look. Without `onClick`, it
 * runs the action of its key.
 */
export function Chip({ hotkey, title, ...props }: ChipProps) {
  return (
    <button
      type="button"
      class="chip"
      title={hotkey === undefined ? title : `${title} (${hotkey})`}
      onClick={hotkey === undefined ? undefined : () => runKey(hotkey)}
      {...props}
    />
  );
}

/** Marks a failed span, or a span with failures below it. */
export function Flag({ label, below }: { label: string; below?: boolean }) {
  return (
    <span
      class={below ? "flag below" : "flag"}
      title={label}
      role="img"
      aria-label={label}
    >
      !
    </span>
  );
}

/** A name, its value, and a note on the value. */
export type Fact = readonly [
  name: string,
  value: ComponentChildren,
  note?: string | undefined,
];

/** A list of facts. */
export function Facts({ of }: { of: readonly Fact[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value, note]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {note !== undefined && <span class="muted">{note}</span>}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

/**
 * The status of a trace's response, coloured by its class, or as an error if a
 * span failed.
 */
export function Status({ entry }: { entry: TraceEntry }) {
  const { statusCode } = entry;
  const look = isFailedTrace(entry) ? 5 : Math.floor(statusCode / 100);
  return (
    <span class={`status status-${look}`}>
      {statusCode === 0 ? "–" : statusCode}
    </span>
  );
}

/** The status, duration and size of a trace. */
export function Outcome({ entry }: { entry: TraceEntry }) {
  return (
    <>
      <Status entry={entry} />
      <strong>{timeText(entry)}</strong>
      <span>{formatPlural(entry.spanCount, "span")}</span>
    </>
  );
}

/** Returns the duration of a trace, if it has ended. */
export function timeText({ pending, duration }: TraceEntry): string {
  return pending ? "running" : formatDuration(duration);
}

/**
 * The method and path of a request, the name of another operation, or the user's
 * action and its page.
 */
export function Title({ entry }: { entry: TraceEntry }) {
  const { method, name, path } = entry;
  if (method === "" && isAction(entry)) {
    const place = name.endsWith(path) ? "" : path;
    return <>{cutText(name, 100)} {cutText(place, 100)}</>;
  }
  return (
    <>
      <span class="method">{cutText(method, 20)}</span> {cutText(path, 300)}
    </>
  );
}

/** Outlines on a grid of 16 by 16. */
const PATHS = {
  back: "M10 3 5 8l5 5",
  clock: "M8 2a6 6 0 1 0 .1 0zM8 4.5V8l2.5 1.5",
  close: "M4 4l8 8m0-8-8 8",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  dark: "M13 9a5 5 0 0 1-6-6 5.5 5.5 0 1 0 6 6z",
  filter: "M2 3.5h12M4.5 8h7M6.5 12.5h3",
  help: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.8-1.1 1.8M8 12.5v.5",
  light: "M8 5a3 3 0 1 0 .1 0zM8 1v2M8 13v2M1 8h2M13 8h2",
  open: "M2 13V4h4l1.5 2H14v7z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3v10l8-5z",
  right: "M6 4l4 4-4 4",
  save: "M8 2v8M5 7l3 3 3-3M2.5 13.5h11",
  search: "M7 2a5 5 0 1 0 .1 0zM11 11l3 3",
  system: "M2 3h12v8H2zM5.5 14h5M8 11v3",
} as const;

/** The name of an icon. */
type IconName = keyof typeof PATHS;

/** A small outline in the colour of the text, hidden from assistive technology. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
