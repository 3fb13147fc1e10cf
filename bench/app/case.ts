/**
 * A benchmark case of the host: the same small server created with the kit,
 * with other libraries, by hand ("bare"), and with the floor.
 *
 * @module
 */

import type { App, ConnectionInfo } from "@quartet/kit/app";
import { createFloor, cutPath, type Work } from "./floor.ts";

/** A server. Only an app of the kit can listen by itself. */
export interface Candidate {
  readonly fetch: (
    request: Request,
    info: ConnectionInfo,
  ) => Response | Promise<Response>;
  readonly serve?: App["serve"];
}

/** Candidates by name. Each runs in its own process. */
export type Candidates = Readonly<Record<string, () => Candidate>>;

/** A case to measure. */
export interface Case {
  readonly title: string;
  readonly candidates: Candidates;
  /** Path and query string, for all candidates or by candidate. */
  readonly path: string | ((name: string) => string);
  /** The cookie of the request. */
  readonly cookie?: string;
  /** The throughput that the kit should reach, as a ratio to a candidate's. */
  readonly target: readonly [candidate: string, ratio: number];
}

/**
 * Creates the kit's candidates: behind `Deno.serve`, as the others, and with
 * its own `serve()`.
 */
export function kit(create: () => App): Candidates {
  return {
    "@quartet/kit": () => {
      const app = create();
      return { fetch: (request, info) => app.fetch(request, info) };
    },
    "… by app.serve()": create,
  };
}

/** Creates the same work without and with the floor. */
export function byHand(work: Work): Candidates {
  return {
    "bare": () => ({ fetch: (request) => work(request, cutPath(request.url)) }),
    "floor": () => ({ fetch: createFloor(work) }),
  };
}
