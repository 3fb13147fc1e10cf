import { useSignal } from "@preact/signals";
import type { Layer } from "../../trace/types.ts";
import { countFilters } from "../model/filters.ts";
import { LAYER_ORDER } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import { found, hasCache, isLooking } from "../state/dev_command.ts";
import {
  clearFilters,
  filters,
  type ListTab,
  listTab,
  queryText,
  setFilters,
} from "../state/listing.ts";
import { toggled } from "../state/opened.ts";
import { methods } from "../state/traces.ts";
import { Chip, Icon } from "./controls.tsx";

/** The tabs of the list, and the filters of those that have some. */
export function FilterBar() {
  const open = useSignal(false);
  const count = countFilters(filters.value);
  const isFiltered = ["traces", "routes"].includes(listTab.value);
  return (
    <nav
      class={open.value ? "filter-bar open" : "filter-bar"}
      aria-label="Filters"
    >
      <div class="tabs" role="tablist" aria-label="List">
        <Tab id="traces" label="Traces" />
        <Tab id="routes" label="Routes" />
        {isLooking.value && (
          <Tab id="findings" label={`Findings (${found.value.length})`} />
        )}
        {hasCache.value && <Tab id="cache" label="Cache" />}
      </div>
      {isFiltered && (
        <>
          <Chip
            class="filter-toggle"
            aria-expanded={open.value}
            aria-controls="filters"
            onClick={() => open.value = !open.value}
          >
            <Icon name="filter" /> Filters{count > 0 ? ` (${count})` : ""}
          </Chip>
          <FilterFields />
          {(count > 0 || queryText.value !== "") && (
            <Chip class="link" onClick={clearFilters}>Clear</Chip>
          )}
        </>
      )}
    </nav>
  );
}

function Tab({ id, label }: { id: ListTab; label: string }) {
  return (
    <Chip
      class="tab"
      role="tab"
      id={`tab-${id}`}
      aria-selected={listTab.value === id}
      title={label}
      hotkey="r"
      onClick={() => listTab.value = id}
    >
      {label}
    </Chip>
  );
}

function FilterFields() {
  const { method, path, layer, minDuration, errorsOnly, route } = filters.value;
  const statusClasses = new Set(filters.value.statusClasses);
  return (
    <div class="filters" id="filters" role="group" aria-label="Filters">
      <Select
        label="Method"
        value={method}
        options={methods.value}
        onPick={(method) => setFilters({ method })}
      />
      <div class="chips" role="group" aria-label="Status">
        {[2, 3, 4, 5].map((digit) => (
          <Chip
            key={digit}
            aria-pressed={statusClasses.has(digit)}
            aria-label={`Status ${digit}xx`}
            onClick={() =>
              setFilters({ statusClasses: [...toggled(statusClasses, digit)] })}
          >
            {digit}xx
          </Chip>
        ))}
      </div>
      <input
        type="text"
        aria-label="Path contains"
        placeholder="Path contains"
        spellcheck={false}
        autocomplete="off"
        value={path}
        onInput={(event) => setFilters({ path: event.currentTarget.value })}
      />
      <Select
        label="Layer"
        value={layer}
        options={LAYER_ORDER}
        onPick={(layer) => setFilters({ layer: layer as Layer | "" })}
      />
      <label class="min-duration">
        ≥
        <input
          type="number"
          min="0"
          aria-label="Minimum duration in milliseconds"
          placeholder="0"
          value={minDuration || ""}
          onInput={(event) =>
            setFilters({ minDuration: Number(event.currentTarget.value) || 0 })}
        />
        ms
      </label>
      <Chip
        aria-pressed={errorsOnly}
        onClick={() => setFilters({ errorsOnly: !errorsOnly })}
      >
        Errors only
      </Chip>
      {route !== "" && (
        <Chip
          aria-label={`Remove the filter on route ${cutText(route, 100)}`}
          aria-pressed
          onClick={() => setFilters({ route: "" })}
        >
          {cutText(route, 60)} <Icon name="close" />
        </Chip>
      )}
    </div>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onPick: (value: string) => void;
}

function Select({ label, value, options, onPick }: SelectProps) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => onPick(event.currentTarget.value)}
    >
      <option value="">Any {label.toLowerCase()}</option>
      {options.map((name) => <option key={name}>{name}</option>)}
    </select>
  );
}
