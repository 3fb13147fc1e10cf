/** Outlines on a grid of 16 by 16. */
const PATHS = {
  back: "M10 3 5 8l5 5",
  chart: "M2 3h7M4 6.5h7M7 10h7M9 13.5h4",
  close: "M4 4l8 8M12 4l-8 8",
  columns: "M2.5 3h11v10h-11zM8 3v10",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  dark: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
  down: "M4 6l4 4 4-4",
  filter: "M2 3.5h12M4.5 8h7M6.5 12.5h3",
  flame: "M2 3h12M2 6.5h9M2 10h5M2 13.5h2",
  help:
    "M6 6a2 2 0 1 1 2.600 1.9c-.4.2-.6.5-.6 1V9.5M8 12v.3M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13z",
  light:
    "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  open: "M2 13V4h4l1.5 2H14v7z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3v10l8-5z",
  right: "M6 4l4 4-4 4",
  save: "M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.700 10.700 14 14",
  system: "M2 3h12v8H2zM5.5 14h5M8 11v3",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

/** A small outline in the colour of the text. It says nothing by itself. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
