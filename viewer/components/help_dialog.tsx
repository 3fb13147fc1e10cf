import { useLayoutEffect, useRef } from "../hooks.ts";
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

/** All keys and what they do. */
export function HelpDialog() {
  const ref = useRef<HTMLDialogElement | null>(null);
  useLayoutEffect(() => ref.current!.showModal(), []);
  const close = () => {
    helpOpen.value = false;
  };
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
        {Object.entries(BINDINGS).map(([section, bindings]) => (
          <section key={section}>
            <h3>{section}</h3>
            <dl>
              {bindings.map(([keys, label]) => (
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
        <section>
          <h3>Mouse</h3>
          <dl>
            <div>
              <dt>Drag</dt>
              <dd>On the overview or the axis: zoom</dd>
            </div>
            <div>
              <dt>Ctrl + wheel</dt>
              <dd>Zoom about the pointer</dd>
            </div>
            <div>
              <dt>Shift + wheel</dt>
              <dd>Earlier, later</dd>
            </div>
            <div>
              <dt>Double click</dt>
              <dd>On a layer: show it alone</dd>
            </div>
          </dl>
        </section>
      </div>
    </dialog>
  );
}
