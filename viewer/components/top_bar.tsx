import type { TargetedKeyboardEvent } from "preact";
import { useRef } from "preact/hooks";
import { useNow } from "../dom.ts";
import { formatCount, formatPlural, formatShare } from "../model/format.ts";
import { EXPORT_FORMATS, exportTraces } from "../state/files.ts";
import * as listing from "../state/listing.ts";
import { connection, droppedCount, reconnect } from "../state/live.ts";
import * as opened from "../state/opened.ts";
import { zoneText } from "../state/settings.ts";
import { theme } from "../state/theme.ts";
import * as traces from "../state/traces.ts";
import { Chip, Icon, Tool } from "./controls.tsx";

/** The bar at the top: counts, connection, search and tools. */
export function TopBar() {
  return (
    <header class="top-bar">
      <h1>Traces</h1>
      <Counts />
      <ConnectionState />
      <SearchBox />
      <div class="tools">
        <Tool icon="open" label="Open files" hotkey="O" />
        <ExportMenu />
        <Tool icon={theme.value} label={`Theme: ${theme.value}`} hotkey="t" />
        <Tool icon="clock" label={`Times: ${zoneText()}`} hotkey="T" />
        <Tool icon="help" label="Keys" hotkey="?" />
      </div>
    </header>
  );
}

function Counts() {
  const total = traces.entries.value.length;
  const visible = listing.shown.value.length;
  const running = traces.pending.value.length;
  return (
    <p class="counts" id="counts" role="status">
      {visible === total
        ? traces.countText.value
        : `${formatCount(visible)} of ${traces.countText.value}`}
      {running > 0 && <span class="muted">{` · ${running} running`}</span>}
      {droppedCount.value > 0 && (
        <span
          class="muted"
          title="This page was too slow to read all traces. Reload it to get them from the server."
        >
          {` · ${formatCount(droppedCount.value)} skipped`}
        </span>
      )}
    </p>
  );
}

function ConnectionState() {
  const state = connection.value;
  return state.kind !== "file" && (
    <div class="connection" id="connection">
      {state.kind === "lost"
        ? <LostState retryAt={state.retryAt} />
        : state.kind === "live"
        ? <LiveState />
        : "Connecting…"}
    </div>
  );
}

function LiveState() {
  return (
    <>
      <span class={traces.paused.value ? "live-dot paused" : "live-dot"} />
      {traces.paused.value ? "Paused" : "Live"}
      <Tool
        icon={traces.paused.value ? "play" : "pause"}
        label="Pause the live tail"
        hotkey="p"
        aria-pressed={traces.paused.value}
      />
      {traces.paused.value && listing.newText.value !== "" && (
        <span class="muted">{listing.newText.value}</span>
      )}
    </>
  );
}

function LostState({ retryAt }: { retryAt: number }) {
  const seconds = Math.max(Math.ceil((retryAt - useNow(500)) / 1000), 1);
  return (
    <>
      <span class="live-dot lost" />
      Disconnected
      <span class="muted">retrying in {seconds} s</span>
      <Chip class="link" onClick={reconnect}>Retry now</Chip>
    </>
  );
}

function SearchBox() {
  const progress = listing.searchProgress.value;
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        id="search"
        type="search"
        placeholder="Search spans, values, errors"
        aria-label="Search span names and values"
        autocomplete="off"
        spellcheck={false}
        value={listing.queryText.value}
        onFocus={listing.prepareSearch}
        onInput={(event) => listing.queryText.value = event.currentTarget.value}
      />
      {listing.query.value !== "" && progress < 1
        ? <span class="muted">{formatShare(progress)}</span>
        : <kbd>/</kbd>}
    </div>
  );
}

/** Saves the open trace, or all listed traces. */
function ExportMenu() {
  const ref = useRef<HTMLDivElement>(null);
  const entry = opened.openedTrace.value?.entry;
  const all = {
    label: `All listed: ${formatPlural(listing.shown.value.length, "trace")}`,
    name: "traces",
    entries: listing.shown.value,
  };
  const groups = entry === undefined ? [all] : [{
    label: "This trace",
    name: `trace-${entry.id.slice(0, 8)}`,
    entries: [entry],
  }, all];
  return (
    <>
      <Tool
        icon="save"
        label="Export"
        id="export"
        popovertarget="export-menu"
        aria-haspopup="menu"
      />
      <div
        popover="auto"
        id="export-menu"
        class="menu"
        role="menu"
        aria-label="Export"
        ref={ref}
        onKeyDown={moveInMenu}
        onToggle={({ newState, currentTarget }) => {
          if (newState === "open") {
            currentTarget.querySelector("button")?.focus();
          }
        }}
      >
        {groups.map(({ label, name, entries }) => (
          <div role="group" aria-label={label} key={name}>
            <p class="menu-label">{label}</p>
            {EXPORT_FORMATS.map((format) => (
              <Chip
                class=""
                role="menuitem"
                key={format.label}
                onClick={() => {
                  ref.current!.hidePopover();
                  exportTraces(entries, format, name);
                }}
              >
                {format.label} <span class="muted">{format.suffix}</span>
              </Chip>
            ))}
          </div>
        ))}
      </div>
    </>
  );
}

function moveInMenu(event: TargetedKeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll("button")];
  const at = items.indexOf(document.activeElement as HTMLButtonElement);
  items[(at + step + items.length) % items.length]?.focus();
}
