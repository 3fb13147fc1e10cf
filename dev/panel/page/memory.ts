/**
 * The panel's state in the browser's storage.
 *
 * @module
 */

/** Where the panel is. */
export interface Place {
  /** The side of the window. */
  x: "left" | "right";
  /** The end of the window. */
  y: "top" | "bottom";
  /** Whether the viewer is shown. */
  isOpen: boolean;
}

const KEY = "trace-panel";

/** Returns the last place, or the default. */
export function readPlace(): Place {
  let stored: Partial<Place> = {};
  try {
    stored = Object(JSON.parse(localStorage.getItem(KEY) ?? "{}"));
  } catch {
    // Without storage, the panel begins at the default place.
  }
  return {
    x: stored.x === "right" ? "right" : "left",
    y: stored.y === "top" ? "top" : "bottom",
    isOpen: stored.isOpen === true,
  };
}

/** Remembers a place for the next page. */
export function storePlace(place: Place): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(place));
  } catch {
    // Without storage, the place lasts until the page is closed.
  }
}

/** Returns the viewer's theme. `undefined`: the system's. */
export function viewerTheme(): "light" | "dark" | undefined {
  try {
    const theme = localStorage.getItem("trace-viewer-theme");
    return theme === "light" || theme === "dark" ? theme : undefined;
  } catch {
    return undefined;
  }
}
