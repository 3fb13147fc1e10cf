/**
 * The parts of a browser that a server's type checker doesn't know. The modules
 * of this folder declare them where they use them, so that importing the client
 * on a server needs no types of the DOM.
 *
 * @module
 */

/** The page. */
export interface BrowserDocument {
  readonly baseURI: string;
  readonly readyState: string;
  querySelector(selector: string): { readonly content: string } | null;
}

/** How the page's document was fetched and what became of it. */
export interface NavigationTiming {
  readonly domainLookupStart: number;
  readonly domainLookupEnd: number;
  readonly connectStart: number;
  readonly connectEnd: number;
  readonly requestStart: number;
  readonly responseStart: number;
  readonly responseEnd: number;
  readonly domComplete: number;
  readonly loadEventEnd: number;
  readonly serverTiming?: readonly {
    readonly name: string;
    readonly description: string;
  }[];
}

/** How a part of the page was fetched. */
export interface ResourceTiming {
  readonly name: string;
  readonly initiatorType: string;
  readonly startTime: number;
  readonly responseEnd: number;
}

/** The sender of data for a page that is being closed. */
export interface BrowserNavigator {
  sendBeacon(url: string, body: string): boolean;
}
