import { formatCount } from "../model/format.ts";
import type { Found } from "../model/found.ts";
import { cutText } from "../model/text.ts";
import { found, openFound } from "../state/dev_command.ts";
import { wantedTrace } from "../state/opened.ts";
import { cursorKey } from "../state/selection.ts";
import { clockText, momentText } from "../state/settings.ts";
import { classes } from "./controls.tsx";
import { column, Grid } from "./grid.tsx";

/** Returns a column with a text. Its class cuts what doesn't fit. */
function text(name: string, label: string, textOf: (item: Found) => string) {
  return column<Found>(name, label, (item) => cutText(textOf(item), 300), {
    title: (item) => cutText(textOf(item), 500),
  });
}

const COLUMNS = [
  column<Found>("time", "Last", ({ time }) => clockText(time), {
    title: ({ time }) => momentText(time),
  }),
  text("kind", "Rule", ({ rule }) => rule),
  text("name", "Cause", ({ message }) => message),
  text("path", "Line", ({ location }) => location),
  text("route", "Route", ({ route }) => route),
  column<Found>("count", "Traces", ({ count }) => formatCount(count)),
];

/** The list of findings. A click shows the evidence. */
export function FoundTable() {
  const list = found.value;
  const cursor = cursorKey.value;
  const open = wantedTrace.value;
  return (
    <Grid
      id="found-table"
      label="Findings"
      place="list"
      items={list}
      columns={COLUMNS}
      rowHeight={28}
      active={list.findIndex(({ key }) => key === cursor)}
      idOf={({ key }) => key}
      row={({ key, traceId }) => ({
        class: classes(
          "row",
          key === cursor && "cursor",
          traceId === open && "selected",
        ),
      })}
      reveal={[cursor]}
      onPick={openFound}
    >
      {list.length === 0 && (
        <p class="no-rows">Nothing found. The rules look at each new trace.</p>
      )}
    </Grid>
  );
}
