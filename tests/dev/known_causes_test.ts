/** The list of causes, what it reports again, and its lines in the terminal. */

import { assert, assertEquals } from "@std/assert";
import { createTracer } from "@quartet/kit/trace";
import { createFindings } from "../../dev/findings/findings.ts";
import { formatFinding } from "../../dev/findings/texts.ts";
import type { Finding } from "../../trace/finding.ts";
import { createPaint } from "../../trace/report/terminal.ts";
import { LAST, waitForCauses } from "./wait_for_causes.ts";

/** Records requests that fail at a line, or that don't fail. */
function requests(path: string, count: number, message?: string) {
  return (tracer: ReturnType<typeof createTracer>) => {
    for (let i = 0; i < count; i++) {
      const status = message === undefined ? 200 : 500;
      const root = tracer.startTrace(`GET ${path}`, "request", {
        attributes: {
          "http.request.method": "GET",
          "url.path": path,
          "http.response.status_code": status,
        },
      });
      if (message !== undefined) root.error(new Error(message));
      root.end();
    }
  };
}

Deno.test("A cause is reported once, and again after it was gone from its route", async () => {
  const tracer = createTracer();
  const findings = createFindings(tracer, 0);
  const reported: string[] = [];
  const stop = findings.subscribe(({ route, count }) => {
    if (!route!.startsWith(LAST)) {
      reported.push(`${route} ${count}`);
    }
  });
  const steps = [
    requests("/a", 3, "full"),
    requests("/b", 20),
    requests("/a", 9),
    requests("/a", 1, "full"),
    requests("/a", 10),
    requests("/a", 2, "full"),
  ];
  for (const step of steps) {
    step(tracer);
    await waitForCauses(tracer, findings);
  }
  assertEquals(reported, ["GET /a 1", "GET /a 5"]);
  assertEquals(
    findings.list().find(({ route }) => route === "GET /a")?.count,
    6,
  );
  stop();
  requests("/c", 1, "full")(tracer);
  await waitForCauses(tracer, findings);
  assertEquals(reported.length, 2);
  findings.close();
});

Deno.test("The latest 200 causes are kept, and an error of one listener doesn't reach others", async () => {
  const tracer = createTracer({ maxTraces: 500 });
  const findings = createFindings(tracer, 0);
  findings.subscribe(() => {
    throw new Error("broken listener");
  });
  let reported = 0;
  findings.subscribe(() => void reported++);
  const errors: unknown[] = [];
  const { error } = console;
  console.error = (text: string) => void errors.push(text);
  try {
    for (let i = 0; i < 250; i++) {
      // This one is seen again and again.
      if (i % 60 === 0) requests("/often", 1, "full")(tracer);
      requests(`/${i}`, 1, "full")(tracer);
    }
    await waitForCauses(tracer, findings);
  } finally {
    console.error = error;
  }
  findings.close();
  assertEquals([findings.list().length, reported], [200, 252]);
  assertEquals(findings.list()[1]!.route, "GET /249");
  assert(errors.every((text) => text === "A listener of findings threw:"));
});

Deno.test("All ids of a joined trace find its causes", async () => {
  const tracer = createTracer();
  const findings = createFindings(tracer, 0);
  requests("/a", 1, "full")(tracer);
  const { id, rootSpanId: spanId } = tracer.getTraces()[0]!;
  tracer.mergeClientSpans("0af7651916cd43dd8448eb211c80319c", [{
    id: "b7ad6b7169203331",
    parentId: null,
    name: "page:load",
    layer: "custom",
    status: "ok",
    startTime: 1,
    endTime: 2,
    attributes: { "app.link": `00-${id}-${spanId}-01` },
    events: [],
  }]);
  await waitForCauses(tracer, findings);
  findings.close();
  for (const each of [id, "0af7651916cd43dd8448eb211c80319c"]) {
    assertEquals(findings.of(each).map(({ message }) => message), [
      "Error: full",
    ]);
  }
  assertEquals(findings.of("unknown"), []);
  const more = { ...findings.list()[0]!, message: "slower", count: 5 };
  findings.add(more);
  findings.add({ ...more, traceId: "another", count: 5 });
  findings.add({ ...more, traceId: "another", count: 5 });
  assertEquals(findings.of("another").map(({ count }) => count), [10]);
  for (let i = 0; i < 2; i++) {
    findings.add({ ...more, message: "elsewhere", traceId: "", count: 1 });
  }
  assertEquals(findings.of(""), []);
  assertEquals(
    findings.list().find(({ message }) => message === "elsewhere")?.count,
    2,
  );
});

Deno.test("The line of a finding fits the terminal, and can't control it", () => {
  const finding: Finding = {
    rule: "repeated-query",
    message: "12 × SELECT … FROM post WHERE id = ?",
    location: "posts.ts:41",
    route: "GET /posts",
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanIds: [],
    time: 0,
    count: 1,
  };
  const plain = createPaint(false);
  const format = (width: number, more: Partial<Finding> = {}) =>
    formatFinding({ ...finding, ...more }, plain, width);
  const line = "   ! 12 × SELECT … FROM post WHERE id = ? posts.ts:41";
  assertEquals(format(120), `${line} (GET /posts)\n`);
  assertEquals(format(60), `${line}\n`);
  const cut = `   ! ${"x".repeat(49)}… posts.ts:41 (GET /posts)\n`;
  assertEquals(format(80, { message: "x".repeat(200) }), cut);
  const slower = { message: "GET /posts: 8 → 41 ms since you saved posts.ts" };
  assertEquals(format(120, slower), `   ! ${slower.message} posts.ts:41\n`);
  assertEquals(format(40), "   ! 12 × SELECT … FROM pos… posts.ts:41\n");
  const long = { message: "x".repeat(200), route: `GET /${"y".repeat(200)}` };
  for (const width of [40, 80, 120]) {
    assertEquals(format(width, long).length, width + 1);
  }
  assertEquals(
    formatFinding(
      { ...finding, message: "\x1b[2J", location: "\n" },
      createPaint(true),
      80,
    ),
    "\x1b[33m   ! \x1b[39m\x1b[1m\\x1b[2J\x1b[22m\x1b[36m ⏎\x1b[39m" +
      "\x1b[2m (GET /posts)\x1b[22m\n",
  );
});
