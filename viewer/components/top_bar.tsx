import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { toggle } from "../state/toggle.ts";
import { formatCount, formatShare } from "../model/format.ts";
import { chooseFiles } from "../state/files.ts";
import { helpOpen } from "../state/keyboard.ts";
import {
  prepareSearch,
  query,
  queryText,
  searchProgress,
  shown,
} from "../state/listing.ts";
import { connection, droppedCount, reconnect } from "../state/live.ts";
import { nextTheme, theme } from "../state/theme.ts";
import {
  countText,
  entries,
  heldText,
  paused,
  pending,
  togglePaused,
} from "../state/traces.ts";
import { Chip, Icon, Tool } from "./controls.tsx";
import { ExportMenu } from "./export_menu.tsx";

/** The bar at the top: counts, connection, search and tools. */
export function TopBar() {
  return (
    <header class="top-bar">
      <h1>Traces</h1>
      <Counts />
      <ConnectionState />
      <SearchBox />
      <div class="tools">
        <Tool icon="open" label="Open files" hotkey="o" onClick={chooseFiles} />
        <ExportMenu />
        <Tool
          icon={theme.value}
          label={`Theme: ${theme.value}`}
          hotkey="t"
          onClick={nextTheme}
        />
        <Tool
          icon="help"
          label="Keys"
          hotkey="?"
          onClick={() => toggle(helpOpen)}
        />
      </div>
    </header>
  );
}

function Counts() {
  const total = entries.value.length;
  const visible = shown.value.length;
  const running = pending.value.length;
  return (
    <p class="counts" id="counts" role="status">
      {visible === total
        ? countText.value
        : `${formatCount(visible)} of ${countText.value}`}
      {running > 0 && <span class="muted">{` · ${running} running`}</span>}
      {droppedCount.value > 0 && (
        <span
          class="muted"
          title="This page read more slowly than traces came; the server kept them."
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
      <span class={paused.value ? "live-dot paused" : "live-dot"} />
      {paused.value ? "Paused" : "Live"}
      <Tool
        icon={paused.value ? "play" : "pause"}
        label="Pause the live tail"
        hotkey="p"
        pressed={paused.value}
        onClick={togglePaused}
      />
      {paused.value && heldText.value !== "" && (
        <span class="muted">{heldText.value}</span>
      )}
    </>
  );
}

function LostState({ retryAt }: { retryAt: number }) {
  const now = useSignal(Date.now());
  useLayoutEffect(() => {
    const timer = setInterval(() => now.value = Date.now(), 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(Math.ceil((retryAt - now.value) / 1000), 1);
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
  const progress = searchProgress.value;
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
        value={queryText.value}
        onFocus={prepareSearch}
        onInput={(event) => queryText.value = event.currentTarget.value}
      />
      {query.value !== "" && progress < 1
        ? <span class="muted">{formatShare(progress)}</span>
        : <kbd>/</kbd>}
    </div>
  );
}
