import { useRef } from "preact/hooks";
import { formatPlural } from "../model/format.ts";
import type { TraceEntry } from "../model/summary.ts";
import {
  EXPORT_FORMATS,
  type ExportFormat,
  exportTraces,
} from "../state/files.ts";
import { shown } from "../state/listing.ts";
import { opened } from "../state/opened.ts";
import { Chip } from "./controls.tsx";
import { Icon } from "./icon.tsx";

/** Saves the open trace, or all that are listed. */
export function ExportMenu() {
  const ref = useRef<HTMLDivElement>(null);
  const entry = opened.value?.entry;
  const count = shown.value.length;
  const save = (
    entries: readonly TraceEntry[],
    name: string,
    format: ExportFormat,
  ) => {
    ref.current!.hidePopover();
    exportTraces(entries, format, name);
  };
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
        onToggle={(event) => {
          const { newState } = event as unknown as ToggleEvent;
          if (newState === "open") {
            ref.current!.querySelector("button")?.focus();
          }
        }}
      >
        {entry !== undefined && (
          <Formats
            label="This trace"
            onPick={(format) =>
              save([entry], `trace-${entry.id.slice(0, 8)}`, format)}
          />
        )}
        <Formats
          label={`All listed: ${formatPlural(count, "trace")}`}
          onPick={(format) => save(shown.value, "traces", format)}
        />
      </div>
    </>
  );
}

interface FormatsProps {
  readonly label: string;
  readonly onPick: (format: ExportFormat) => void;
}

function Formats({ label, onPick }: FormatsProps) {
  return (
    <div role="group" aria-label={label}>
      <p class="menu-label">{label}</p>
      {EXPORT_FORMATS.map((format) => (
        <Chip
          class=""
          role="menuitem"
          key={format.label}
          onClick={() => onPick(format)}
        >
          {format.label} <span class="muted">{format.suffix}</span>
        </Chip>
      ))}
    </div>
  );
}

function moveInMenu(
  event: KeyboardEvent & { currentTarget: HTMLElement },
): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll("button")];
  const at = items.indexOf(document.activeElement as HTMLButtonElement);
  items[(at + step + items.length) % items.length]?.focus();
}
