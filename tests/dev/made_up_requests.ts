/** Makes up requests, and returns what the dev command finds in them. */

import type { Attributes, Span, TracerImpl } from "@quartet/kit/trace";
import { createFindings } from "../../dev/findings/findings.ts";
import type { Finding } from "../../trace/finding.ts";
import { createTestTracer, type ManualClock } from "../trace/fakes.ts";
import { waitForCauses } from "./wait_for_causes.ts";

/** A tracer whose requests the test makes up. */
export interface Maker {
  readonly tracer: TracerImpl;
  readonly clock: ManualClock;
  /** Records a request that lasts as long as its spans. */
  request(path: string, work?: (root: Span) => void, more?: Attributes): void;
}

/** Adds a span that lasts some milliseconds. */
export type AddSpan = (
  parent: Span,
  duration: number,
  name: string,
  attributes: Attributes,
) => void;

/** Returns what is found in the traces that `make` records. */
export async function findIn(
  make: (maker: Maker, record: AddSpan) => void,
): Promise<Finding[]> {
  const { tracer, clock } = createTestTracer();
  const findings = createFindings(tracer, 0);
  make({
    tracer,
    clock,
    request(path, work, more) {
      const root = tracer.startTrace(`GET ${path}`, "request", {
        attributes: {
          "http.request.method": "GET",
          "url.path": path,
          "http.response.status_code": 200,
          ...more,
        },
      });
      work?.(root);
      clock.advance(1);
      root.end();
    },
  }, (parent, duration, name, attributes) => {
    const layer = name === "db.query" ? "database" : "data";
    const span = parent.child(name, layer, attributes);
    clock.advance(duration);
    span.end();
  });
  const found = await waitForCauses(tracer, findings);
  findings.close();
  return found;
}

/** Returns the rules, causes and lines, in alphabetical order. */
export async function causesIn(
  make: (maker: Maker, record: AddSpan) => void,
): Promise<string[]> {
  const found = await findIn(make);
  return found.map(({ rule, message, location = "-" }) =>
    `${rule}: ${message} ${location}`
  ).sort();
}

/** Returns the attributes of a line. */
export const at = (line: number) => ({
  "code.file.path": `${Deno.cwd()}/posts.ts`,
  "code.line.number": line,
});
/** Returns the attributes of a query. */
export const query = (text: string, more: Attributes = {}) => ({
  "db.query.text": text,
  "db.system.name": "sqlite",
  ...more,
});
