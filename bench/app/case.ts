/**
 * A case that the host is measured with: the same small server made with the
 * kit, with other libraries, by hand ("bare"), and with the floor.
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

/** Candidates by name, each made in a process of its own. */
export type Candidates = Readonly<Record<string, () => Candidate>>;

/** One thing to measure. */
export interface Case {
  readonly title: string;
  readonly candidates: Candidates;
  /** Path and query string, of all candidates or for each of them. */
  readonly path: string | ((name: string) => string);
  /** The cookie of the request. */
  readonly cookie?: string;
  /** The throughput that the kit should have, as a ratio to a candidate's. */
  readonly target: readonly [candidate: string, ratio: number];
}

/** The kit behind `Deno.serve`, as the others are, and by its own `serve()`. */
export function kit(create: () => App): Candidates {
  return {
    "@quartet/kit": () => {
      const app = create();
      return { fetch: (request, info) => app.fetch(request, info) };
    },
    "… by app.serve()": create,
  };
}

/** The same work without and with the floor. */
export function byHand(work: Work): Candidates {
  return {
    "bare": () => ({ fetch: (request) => work(request, cutPath(request.url)) }),
    "floor": () => ({ fetch: createFloor(work) }),
  };
}
