/** Outlines on a grid of 16 by 16. */
const PATHS = {
  back: "M10 3 5 8l5 5",
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
export type IconName = keyof typeof PATHS;

/** A small outline in the colour of the text. It says nothing by itself. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
