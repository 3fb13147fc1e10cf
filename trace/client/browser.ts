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
  querySelector(selector: string): { readonly content: string } | null;
}

/** The timing of the page's document. */
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

/** The timing of a resource of the page. */
export interface ResourceTiming {
  readonly name: string;
  readonly initiatorType: string;
  readonly startTime: number;
  readonly responseEnd: number;
}

/** Sends data while a page is being closed. */
export interface BrowserNavigator {
  sendBeacon(url: string, body: string): boolean;
}
