import { useLayoutEffect, useRef } from "preact/hooks";
import { BINDINGS, helpOpen } from "../state/keyboard.ts";
import { Tool } from "./controls.tsx";

const NAMES: Readonly<Record<string, string>> = {
  " ": "Space",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  Escape: "Esc",
};

/** Actions of the mouse. */
const MOUSE = {
  Mouse: [
    [["Drag"], "Zoom, on the overview or the axis"],
    [["Ctrl", "wheel"], "Zoom at the pointer"],
    [["Shift", "wheel"], "Move to earlier or later times"],
    [["Double click"], "Show only one layer, on the legend"],
  ],
} as const;

/** The list of keys. */
export function HelpDialog() {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => ref.current!.showModal(), []);
  const close = () => helpOpen.value = false;
  return (
    <dialog
      ref={ref}
      class="help"
      id="help"
      aria-labelledby="help-title"
      onClose={close}
      onClick={(event) => {
        if (event.target === ref.current) close();
      }}
      onKeyDown={(event) => {
        if (event.key === "?") close();
      }}
    >
      <header>
        <h2 id="help-title">Keys</h2>
        <Tool icon="close" label="Close" onClick={close} />
      </header>
      <div class="help-columns" tabIndex={0} role="group" aria-label="Keys">
        {Object.entries({ ...BINDINGS, ...MOUSE }).map(([section, uses]) => (
          <section key={section}>
            <h3>{section}</h3>
            <dl>
              {uses.map(([keys, label]) => (
                <div key={label}>
                  <dt>
                    {keys.map((key) => <kbd key={key}>{NAMES[key] ?? key}
                    </kbd>)}
                  </dt>
                  <dd>{label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}
