import { assertEquals } from "@std/assert";
import { RunSamples, type Sample } from "../../dev/runs/samples.ts";
import { createTestTracer } from "../trace/fakes.ts";

/** A request: its path, start and end, and what differs from a usual one. */
type Sketch = readonly [
  path: string,
  start: number,
  end: number,
  also?: { readonly status?: number; readonly auth?: string },
];

/** Returns the samples of requests, in order of their end. */
function samplesOf(sketches: readonly Sketch[]): Sample[] {
  const { tracer, clock } = createTestTracer();
  const moments = sketches.flatMap((sketch) => {
    const [path, start, end, { status = 200, auth } = {}] = sketch;
    let root: ReturnType<typeof tracer.startTrace>;
    return [
      {
        time: start,
        act() {
          root = tracer.startTrace(`GET ${path}`, "request", {
            attributes: {
              "http.request.method": "GET",
              "url.path": path,
              "http.route": "/:page",
            },
          });
          const check = auth && root.child("auth:session", "auth");
          if (check) check.setAttribute("app.auth.result", auth);
        },
      },
      {
        time: end,
        act() {
          root.setAttribute("http.response.status_code", status);
          root.end();
        },
      },
    ];
  });
  const samples = new RunSamples();
  tracer.subscribe((event) => {
    if (event.type === "trace:end") samples.add(event.trace);
  }, ["trace:end"]);
  for (const { time, act } of moments.sort((a, b) => a.time - b.time)) {
    clock.time = time;
    act();
  }
  return samples.of("GET /:page", 200)?.samples ?? [];
}

Deno.test("Requests that run at the same time aren't alone, also if the other one ends first or fails", () => {
  const alone = (...sketches: Sketch[]) =>
    samplesOf(sketches).map(({ isAlone }) => isAlone);
  assertEquals(alone(["/a", 0, 10], ["/b", 10, 20]), [true, true]);
  assertEquals(alone(["/a", 0, 10], ["/b", 5, 15]), [false, false]);
  assertEquals(alone(["/a", 0, 30], ["/b", 5, 15]), [false, false]);
  assertEquals(
    alone(["/a", 0, 10, { status: 500 }], ["/b", 5, 15], ["/c", 20, 30]),
    [false, true],
  );
});

Deno.test("Requests that start before the first one has ended are first ones", () => {
  const samples = samplesOf([["/a", 0, 10], ["/b", 5, 15], ["/c", 20, 30]]);
  assertEquals(samples.map(({ isFirst }) => isFirst), [true, true, false]);
  assertEquals(
    samples.map(({ isFirstOfRoute }) => isFirstOfRoute),
    [true, false, false],
  );
});

Deno.test("Requests are alike with the same URL and sign-in state", () => {
  const [a, b, c, d] = samplesOf([
    ["/a", 0, 1, { auth: "anonymous" }],
    ["/a", 2, 3, { auth: "anonymous" }],
    ["/a", 4, 5, { auth: "cookie" }],
    ["/b", 6, 7, { auth: "anonymous" }],
  ]).map(({ like }) => like);
  assertEquals(a, b);
  assertEquals(new Set([a, c, d]).size, 3);
});
