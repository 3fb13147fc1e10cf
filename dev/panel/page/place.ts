/**
 * The corner of the window where the panel is. The browser remembers it.
 *
 * @module
 */

import { readObject, storeObject } from "../../../viewer/state/storage.ts";

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
  const { x, y, isOpen } = readObject(KEY);
  return {
    x: x === "right" ? x : "left",
    y: y === "top" ? y : "bottom",
    isOpen: isOpen === true,
  };
}

/** Remembers a place for the next page. */
export function storePlace(place: Place): void {
  storeObject(KEY, place);
}

/** A shorter way of the pointer is a click, in CSS pixels. */
const MIN_DRAG = 6;

/**
 * Makes an element draggable. It snaps to the nearest corner.
 *
 * @param onDrop Called with the sides of that corner.
 */
export function followDrag(
  element: HTMLElement,
  onDrop: (x: Place["x"], y: Place["y"]) => void,
): void {
  let start: PointerEvent | undefined;
  let isDragged = false;
  const end = () => {
    start = undefined;
    element.style.translate = "";
  };
  element.onpointerdown = (event) => {
    isDragged = false;
    if (event.button !== 0) return;
    start = event;
    element.setPointerCapture(event.pointerId);
  };
  element.onpointermove = (event) => {
    if (start === undefined) return;
    const x = event.clientX - start.clientX;
    const y = event.clientY - start.clientY;
    if (!isDragged && Math.hypot(x, y) < MIN_DRAG) return;
    isDragged = true;
    element.style.translate = `${x}px ${y}px`;
  };
  element.onpointerup = ({ clientX, clientY }) => {
    if (isDragged) {
      onDrop(
        clientX < innerWidth / 2 ? "left" : "right",
        clientY < innerHeight / 2 ? "top" : "bottom",
      );
    }
    end();
  };
  element.onpointercancel = () => {
    isDragged = false;
    end();
  };
  // The end of a drag isn't a click.
  element.addEventListener("click", (event) => {
    if (isDragged) event.stopImmediatePropagation();
    isDragged = false;
  }, { capture: true });
}

/** Moves a place by an arrow key. Returns whether the key is one. */
export function moveByKey(
  { key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent,
  place: Place,
): boolean {
  if (altKey || ctrlKey || metaKey || shiftKey) return false;
  if (key === "ArrowLeft") place.x = "left";
  else if (key === "ArrowRight") place.x = "right";
  else if (key === "ArrowUp") place.y = "top";
  else if (key === "ArrowDown") place.y = "bottom";
  else return false;
  return true;
}
