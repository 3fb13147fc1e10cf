import type { TargetedKeyboardEvent } from "preact";
import { useRef } from "preact/hooks";
import { formatPlural } from "../model/format.ts";
import { EXPORT_FORMATS, exportTraces } from "../state/files.ts";
import { shown } from "../state/listing.ts";
import { opened } from "../state/opened.ts";
import { Chip, Icon } from "./controls.tsx";

/** Saves the open trace, or all that are listed. */
export function ExportMenu() {
  const ref = useRef<HTMLDivElement>(null);
  const entry = opened.value?.entry;
  const all = {
    label: `All listed: ${formatPlural(shown.value.length, "trace")}`,
    name: "traces",
    entries: shown.value,
  };
  const groups = entry === undefined ? [all] : [{
    label: "This trace",
    name: `trace-${entry.id.slice(0, 8)}`,
    entries: [entry],
  }, all];
  return (
    <>
      <Chip
        class="tool"
        id="export"
        popovertarget="export-menu"
        aria-haspopup="menu"
        aria-label="Export"
        title="Export"
      >
        <Icon name="save" />
      </Chip>
      <div
        popover="auto"
        id="export-menu"
        class="menu"
        role="menu"
        aria-label="Export"
        ref={ref}
        onKeyDown={moveInMenu}
        onToggle={({ newState }) => {
          if (newState === "open") {
            ref.current!.querySelector("button")?.focus();
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
