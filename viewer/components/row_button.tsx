import { effect, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { afterPaint } from "../dom.ts";
import { cursorKey } from "../state/selection.ts";
import { Chip } from "./controls.tsx";

/**
 * The row whose buttons Tab reaches. To change this costs a layout, which would
 * delay the trace that a click opens.
 */
const tabbable = signal("");
effect(() => {
  const key = cursorKey.value;
  afterPaint(() => tabbable.value = key);
});

interface RowButtonProps {
  /** The key of its row. Tab reaches the buttons of the current row. */
  readonly row: string;
  readonly class?: string;
  readonly hint: string;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}

/** A button in a row of a list. The row doesn't see the click. */
export function RowButton({ row, hint, onClick, ...props }: RowButtonProps) {
  return (
    <Chip
      class="badge"
      {...props}
      title={hint}
      tabIndex={tabbable.value === row ? 0 : -1}
      onClick={(event) => {
        event.stopPropagation();
        onClick();
      }}
    />
  );
}
