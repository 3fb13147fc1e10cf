/**
 * The panel's element.
 *
 * @module
 */

import {
  formatCount,
  formatDuration,
  formatPlural,
} from "../../../viewer/model/format.ts";
import { readText } from "../../../viewer/state/storage.ts";
import type { PanelFinding, PanelState } from "../state.ts";
import { followDrag, moveByKey, readPlace, storePlace } from "./place.ts";

/** The text of `panel.css`. */
declare const PANEL_STYLE: string;

// A page may have a base of another origin.
const VIEWER = `${location.origin}/__app/traces`;

/** The panel. It shows a badge, and below it the viewer in a frame. */
export class TracePanel extends HTMLElement {
  readonly #framesViewer: boolean;
  readonly #place = readPlace();
  readonly #aside = create("aside", { ariaLabel: "Traces of this page" });
  readonly #badge = create("button", {
    className: "badge",
    type: "button",
    title: "Open the trace of this page. Drag it, or move it with arrow keys.",
  });
  readonly #content = create("div", {
    className: "content",
    id: "content",
    hidden: true,
  });
  readonly #link = create("a", { target: "_blank" }, "Open in a tab");
  readonly #list = create("ul", { tabIndex: 0, ariaLabel: "Findings" });
  #frame: HTMLElement | undefined;
  #traceId: string | undefined;
  #shown = "";
  #findings: readonly PanelFinding[] = [];
  #listed = "";

  /**
   * Creates the panel.
   *
   * @param framesViewer Whether the page's policy allows frames of its origin.
   */
  constructor(framesViewer: boolean) {
    super();
    this.#framesViewer = framesViewer;
    // Anything but `light` and `dark` is the system's.
    this.dataset.theme = readText("trace-viewer-theme");
    const style = new CSSStyleSheet();
    style.replaceSync(PANEL_STYLE);
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [style];
    const badge = this.#badge;
    badge.setAttribute("aria-controls", "content");
    const title = create("h2", {}, "Findings");
    this.#content.append(create("header", {}, title, this.#link), this.#list);
    this.#aside.append(badge, this.#content);
    root.append(this.#aside);
    this.update(undefined, true);
    this.#apply();
    this.#listen(root);
  }

  /** Shows a state of the page. */
  update(state: PanelState | undefined, isLive: boolean): void {
    const shown = JSON.stringify([state, isLive]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    // New elements at a new place don't count as a layout shift.
    this.#badge.replaceChildren(
      ...figuresOf(state, isLive).flatMap(([className, text]) =>
        text === false ? [] : [create("span", { className }, text), " "]
      ),
    );
    this.#listFindings(state?.findings ?? []);
    if (state?.traceId === undefined || state.traceId === this.#traceId) return;
    this.#traceId = state.traceId;
    this.#show(addressOf(state.traceId));
  }

  /** Lists findings. Equal ones keep their elements, and so the focus. */
  #listFindings(findings: readonly PanelFinding[]): void {
    this.#findings = findings;
    const listed = JSON.stringify(
      findings.map(({ message, location }) => [message, location]),
    );
    if (listed === this.#listed) return;
    this.#listed = listed;
    this.#list.replaceChildren(
      ...findings.length === 0
        ? [create("li", { className: "muted" }, "None on this page")]
        : findings.map((finding, index) => this.#item(finding, index)),
    );
  }

  #item({ message, location }: PanelFinding, index: number): HTMLElement {
    const button = create("button", { type: "button" }, message);
    if (location !== undefined) {
      button.append(" ", create("code", {}, location));
    }
    button.onclick = () => {
      const { traceId, spanId } = this.#findings[index]!;
      this.#show(addressOf(traceId, spanId));
    };
    return create("li", {}, button);
  }

  #listen(root: ShadowRoot): void {
    const toggle = () => {
      this.#place.isOpen = !this.#place.isOpen;
      this.#change();
    };
    this.#badge.onclick = toggle;
    followDrag(this.#badge, (x, y) => {
      Object.assign(this.#place, { x, y });
      this.#change();
    });
    this.#badge.onkeydown = (event) => {
      if (!moveByKey(event, this.#place)) return;
      event.preventDefault();
      this.#change();
    };
    root.addEventListener("keydown", (event) => {
      if ((event as KeyboardEvent).key !== "Escape" || !this.#place.isOpen) {
        return;
      }
      toggle();
      this.#badge.focus();
    });
    // The page's own shortcuts and menus don't mean the panel.
    for (const type of ["keydown", "keyup", "keypress", "click"]) {
      this.addEventListener(type, (event) => event.stopPropagation());
    }
  }

  #change(): void {
    storePlace(this.#place);
    this.#apply();
  }

  /** Applies the place, and whether the panel is open. */
  #apply(): void {
    const { x, y, isOpen } = this.#place;
    Object.assign(this.#aside.dataset, { x, y });
    this.#badge.ariaExpanded = String(isOpen);
    this.#content.hidden = !isOpen;
    if (isOpen) {
      this.#show(addressOf(this.#traceId));
    } else {
      this.#frame?.remove();
      this.#frame = undefined;
    }
  }

  /** Links to an address of the viewer, and shows it if the panel is open. */
  #show(address: string): void {
    this.#link.href = address;
    if (!this.#place.isOpen) return;
    if (!this.#framesViewer) {
      if (this.#frame !== undefined) return;
      const reason =
        "This page's Content-Security-Policy allows no frames. Open the trace in a tab.";
      this.#frame = create("p", { className: "no-frame" }, reason);
    } else if (this.#frame instanceof HTMLIFrameElement) {
      // Doesn't add a step to the page's history.
      this.#frame.contentWindow!.location.replace(address);
      return;
    } else {
      this.#frame = create("iframe", { title: "Trace viewer", src: address });
    }
    this.#content.append(this.#frame);
  }
}

function addressOf(traceId: string | undefined, spanId?: string): string {
  if (traceId === undefined) return VIEWER;
  const span = spanId === undefined ? "" : `&span=${spanId}`;
  return `${VIEWER}#trace=${traceId}${span}`;
}

/** Returns the figures of the badge. A figure without a text isn't shown. */
function figuresOf(
  state: PanelState | undefined,
  isLive: boolean,
): [className: string, text: string | false][] {
  if (state === undefined) return [["muted", isLive ? "Trace" : "No server"]];
  const { duration, requests, queries, errors, findings } = state;
  const { cacheHits, cacheLookups } = state;
  const found = findings.length;
  return [
    [isLive ? "" : "muted", formatDuration(duration)],
    ["", queries === 1 ? "1 query" : `${formatCount(queries)} queries`],
    ["", cacheLookups > 0 && `cache ${cacheHits}/${cacheLookups}`],
    ["error", errors > 0 && formatPlural(errors, "error")],
    ["finding", found > 0 && formatPlural(found, "finding")],
    ["requests", requests > 1 && formatPlural(requests, "request")],
    ["muted", !isLive && "no server"],
  ];
}

/** Creates an element with properties and content. */
function create<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...content: (string | Node)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...content);
  return element;
}
