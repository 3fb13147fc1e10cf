/**
 * The actions of the user: interactions, and navigations without a reload.
 *
 * @module
 */

import type {
  BrowserDocument,
  BrowserElement,
  BrowserEvent,
  BrowserHistory,
} from "./browser.ts";
import { now } from "./clock.ts";
import { replace } from "./replace.ts";
import type { Root, Roots } from "./roots.ts";

declare const document: BrowserDocument;
declare const history: BrowserHistory;

/** Maximum characters of an element's description. */
const MAX_LABEL = 40;

/**
 * Follows what the user does. An interaction is recorded if a request follows
 * within a second.
 *
 * @param roots Takes the navigations and interactions.
 * @param signal Ends it.
 */
export function followUser(
  roots: Roots,
  signal: AbortSignal,
): void {
  let { pathname, search } = location;
  let interaction: Root | undefined;

  function navigate(start = now()): void {
    const name = `navigation ${pathname}`;
    let root = roots.at(now(), true);
    if (root && root === interaction) {
      // The interaction continues as the navigation that it has caused.
      interaction = undefined;
      root.span.rename(name);
      root.span.setAttribute("app.action", "navigation");
      root.span.setAttribute("url.path", pathname);
    } else root = roots.begin("navigation", name, start);
    root.isReady = true;
  }

  /** Checks whether the address has changed. */
  function onMove(isReplaced?: boolean): void {
    const before = pathname + search;
    const query = search;
    ({ pathname, search } = location);
    // A page may correct its own address, before its load also the path.
    if (
      pathname + (isReplaced ? query : search) !== before &&
      (!isReplaced || document.readyState === "complete")
    ) navigate();
  }

  for (const type of ["keydown", "click", "submit", "popstate", "pageshow"]) {
    addEventListener(type, (event) => {
      const { isTrusted, persisted, target, timeStamp } =
        event as unknown as BrowserEvent;
      if (type === "popstate") onMove();
      else if (type === "pageshow") {
        // The browser has kept the page.
        if (persisted) navigate(now(timeStamp));
      } else if (isTrusted) {
        // Scripts of the page dispatch events too.
        const action = type.replace("down", "");
        interaction = roots.begin(
          action,
          `${action} ${describe(target)}`,
          now(timeStamp),
        );
      }
    }, { capture: true, signal });
  }
  for (const name of ["pushState", "replaceState"] as const) {
    const native = history[name];
    replace(history, name, (...args) => {
      native.apply(history, args);
      onMove(name > "r");
    }, signal);
  }
}

/**
 * Describes an element: by its label, or by its name and id. Never by what the
 * user has typed.
 */
function describe(target: BrowserElement): string {
  // A document has none of these functions.
  const element = target.closest?.("a,button,[role=button]") ?? target;
  const label = element.getAttribute?.("aria-label") ??
    (element.matches?.(
        "button:not(:has([contenteditable]),[contenteditable] *)",
      )
      ? element.textContent.trim()
      : "");
  return element.localName +
    (label
      ? ` "${label.slice(0, MAX_LABEL)}"`
      : element.id && `#${element.id}`);
}
