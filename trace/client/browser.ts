/**
 * Types of the browser that the type checker of a server doesn't know. They let
 * a server import the client without the DOM's types.
 *
 * @module
 */

/** The page. */
export interface BrowserDocument {
  readonly baseURI: string;
  readonly readyState: string;
  readonly hidden: boolean;
  querySelector(selector: string): { readonly content: string } | null;
}

/** An element of the page. */
export interface BrowserElement {
  readonly localName: string;
  /** `null` for a document. */
  readonly ownerDocument: unknown;
  readonly textContent: string;
  closest(selector: string): BrowserElement | null;
  getAttribute(name: string): string | null;
}

/** An event that the user or the browser has caused. */
export interface BrowserEvent {
  readonly type: string;
  readonly isTrusted: boolean;
  readonly target: BrowserElement;
  readonly timeStamp: number;
  /** Whether the page was restored from the browser's cache. */
  readonly persisted?: boolean;
}

/** The history of the tab. */
export interface BrowserHistory {
  pushState(...args: unknown[]): void;
  replaceState(...args: unknown[]): void;
}

/** An `XMLHttpRequest`. */
export interface BrowserXHR extends EventTarget {
  send(this: BrowserXHR, ...args: unknown[]): void;
}

/** The metrics that a server has sent in `Server-Timing`. */
type ServerTiming = readonly {
  readonly name: string;
  readonly description: string;
}[];

/** The timing of the page's document. */
export interface NavigationTiming extends ResourceTiming {
  readonly loadEventEnd: number;
  readonly activationStart?: number;
}

/** The timing of a resource of the page. */
export interface ResourceTiming extends PerformanceEntry {
  readonly initiatorType: string;
  /** 0 without a service worker. */
  readonly workerStart: number;
  readonly redirectStart: number;
  readonly redirectEnd: number;
  readonly connectStart: number;
  readonly connectEnd: number;
  readonly requestStart: number;
  readonly responseStart: number;
  readonly responseEnd: number;
  /** 0 if another origin hides it. Absent in some browsers. */
  readonly responseStatus?: number;
  readonly transferSize: number;
  readonly decodedBodySize: number;
  /** Not empty if it came from a cache or a prefetch. Chromium knows at once. */
  readonly deliveryType?: string;
  readonly serverTiming?: ServerTiming;
}

/** An entry of an interaction, or of a shift of the layout. */
export interface VitalTiming extends PerformanceEntry {
  readonly interactionId?: number;
  readonly hadRecentInput?: boolean;
  readonly value: number;
}
