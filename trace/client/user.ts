/**
 * The actions of the user: interactions, and navigations without a reload.
 *
 * @module
 */

import type {
  BrowserDocument,
  BrowserElement,
  BrowserHistory,
} from "./browser.ts";
import { now } from "./clock.ts";
import { MAX_LABEL } from "./limits.ts";
import { listen, replace } from "./replace.ts";
import { beginRoot, type Root } from "./roots.ts";

declare const document: BrowserDocument;
declare const history: BrowserHistory;
declare const Element: { readonly prototype: BrowserElement };

/**
 * Follows what the user does. An interaction is recorded if a request follows
 * within a second.
 */
export function followUser(): void {
  let interaction: Root | undefined;
  let { pathname, search } = location;

  function navigate(): void {
    const action = "navigation";
    const name = `${action} ${pathname}`;
    let root = interaction;
    // The interaction continues as the navigation that it has caused.
    if (root?.covers(now())) root.become(action, name);
    else root = beginRoot(action, name, now());
    interaction = undefined;
    // It is recorded without a request too.
    root.opened();
    root.ended(0);
  }

  /** Checks whether the address has changed. */
  function onMove(isReplaced?: boolean): void {
    const before = pathname + (isReplaced ? location.search : search);
    ({ pathname, search } = location);
    // A page may correct its own address, before its load also the path.
    if (
      pathname + search !== before &&
      (!isReplaced || document.readyState === "complete")
    ) navigate();
  }

  listen(
    ["keydown", "click", "submit"],
    ({ isTrusted, target, timeStamp, type }) => {
      // Scripts of the page dispatch events too, a document isn't an element, and
      // the dev command's panel isn't a part of the page.
      if (
        !isTrusted || !target.ownerDocument ||
        target.localName === "trace-panel"
      ) return;
      const action = type.replace("down", "");
      interaction = beginRoot(
        action,
        `${action} ${describe(target)}`,
        timeStamp,
      );
    },
  );
  listen(["popstate"], () => onMove());
  listen(["pageshow"], ({ persisted }) => {
    // The browser has kept the page.
    if (persisted) navigate();
  });
  for (const name of ["pushState", "replaceState"] as const) {
    replace(history, name, (native) => (...args) => {
      native.apply(history, args);
      onMove(name === "replaceState");
    });
  }
}

/**
 * Describes an element: by its label, or by its name and id. Never by what the
 * user has typed.
 */
function describe(target: BrowserElement): string {
  // A form's fields hide its own properties, such as a field named `id`.
  const { closest, getAttribute } = Element.prototype;
  const element = closest.call(target, "a,button") ?? target;
  const label = getAttribute.call(element, "aria-label") ??
    closest.call(
      element,
      "button:not(:has([contenteditable]),[contenteditable] *)",
    )?.textContent.trim();
  const id = getAttribute.call(element, "id");
  return element.localName +
    (label ? ` "${label.slice(0, MAX_LABEL)}"` : id ? `#${id}` : "");
}
