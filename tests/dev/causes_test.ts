/** The rules of the dev command, one by one: what they find, and what they don't. */

import { assertEquals } from "@std/assert";
import type { Attributes, Span, TracerImpl } from "@quartet/kit/trace";
import { createFindings } from "../../dev/findings/findings.ts";
import type { Finding } from "../../trace/finding.ts";
import { createTestTracer, EPOCH, type ManualClock } from "../trace/fakes.ts";
import { waitForCauses } from "./wait_for_causes.ts";

/** A tracer whose requests the test makes up. */
interface Maker {
  readonly tracer: TracerImpl;
  readonly clock: ManualClock;
  /** Records a request that lasts as long as its spans. */
  request(path: string, work?: (root: Span) => void, more?: Attributes): void;
}

/** Adds a span that lasts some milliseconds. */
type AddSpan = (
  parent: Span,
  duration: number,
  name: string,
  attributes: Attributes,
) => void;

/** Returns what is found in the traces that `make` records. */
async function findIn(
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
async function causesIn(
  make: (maker: Maker, record: AddSpan) => void,
): Promise<string[]> {
  const found = await findIn(make);
  return found.map(({ rule, message, location = "-" }) =>
    `${rule}: ${message} ${location}`
  ).sort();
}

const at = (line: number) => ({
  "code.file.path": `${Deno.cwd()}/posts.ts`,
  "code.line.number": line,
});
const query = (text: string, more: Attributes = {}) => ({
  "db.query.text": text,
  "db.system.name": "sqlite",
  ...more,
});

Deno.test("A query for each row is one cause, with its route, line and evidence", async () => {
  const found = await findIn(({ request }, record) => {
    for (const rows of [12, 3, 7]) {
      request("/posts/7", (root) => {
        record(root, 1, "db.query", query("SELECT id FROM post", at(3)));
        for (let id = 0; id < rows; id++) {
          const text = `SELECT name, mail FROM user WHERE id = ${id}`;
          record(root, 1, "db.query", query(text, at(41)));
        }
      }, { "http.route": "/posts/:id" });
    }
  });
  assertEquals(found.length, 1);
  const { traceId, spanIds, time, ...rest } = found[0]!;
  assertEquals(rest, {
    rule: "repeated-query",
    message: "7 × SELECT … FROM user WHERE id = ?",
    location: "posts.ts:41",
    route: "GET /posts/:id",
    count: 2,
  });
  assertEquals([traceId.length, spanIds.length], [32, 7]);
  assertEquals(time, EPOCH + 12 + 2 + 3 + 2 + 7 + 1);
});

Deno.test("Loops that write, poll, read page by page or come from several lines are no cause", async () => {
  const causes = await causesIn(({ request, clock }, record) => {
    request("/", (root) => {
      for (let i = 0; i < 9; i++) {
        const line = at(i % 3);
        const run = (text: string, more: Attributes = at(1)) =>
          record(root, 1, "db.query", query(text, more));
        run(`INSERT INTO tag VALUES (${i})`);
        run("BEGIN");
        run(`SELECT id FROM post WHERE id > ${i}`, {
          "db.response.returned_rows": 100,
        });
        run("SELECT 1", line);
      }
      for (let i = 0; i < 9; i++) {
        record(root, 1, "db.query", query("SELECT id FROM job", at(9)));
        clock.advance(300);
      }
      // A subscription reads for each change.
      const live = root.child("rpc:live", "rpc", { "app.detached": true });
      for (let i = 0; i < 9; i++) {
        record(live, 1, "db.query", query("SELECT id FROM news", at(5)));
      }
      live.end();
    });
  });
  assertEquals(causes, []);
});

Deno.test("A page that calls a query for each row is a cause, and mutations are none", async () => {
  const call = (type: string, method: string) => ({
    "rpc.method": method,
    "app.rpc.type": type,
  });
  const causes = await causesIn(({ tracer, clock }) => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    for (let i = 0; i < 6; i++) {
      const root = tracer.startTrace("POST /api/rpc", "request", {
        traceId,
        parentId: "b7ad6b7169203331",
        attributes: {
          "http.request.method": "POST",
          "url.path": "/api/rpc",
        },
      });
      for (const [type, method] of [["query", "user"], ["mutation", "star"]]) {
        const procedure = root.child(
          `rpc:${method}`,
          "rpc",
          call(type!, method!),
        );
        // Its handler in the same process isn't another call.
        procedure.child("rpc:handler", "rpc", call(type!, method!)).end();
        clock.advance(1);
        procedure.end();
      }
      root.end();
    }
  });
  assertEquals(causes, ["repeated-call: 6 × rpc user -"]);
});

Deno.test("A query that takes most of a slow request is a cause, unless it is an exception", async () => {
  const causes = await causesIn(({ request, clock }, record) => {
    request("/report", (root) => {
      record(root, 150, "db.query", query("SELECT sum(n) FROM sale", at(8)));
    });
    // Half of the time is something else.
    request("/other", (root) => {
      record(root, 150, "db.query", query("SELECT max(n) FROM sale", at(9)));
      clock.advance(200);
    });
    // The machine was busy once.
    for (const time of [1, 2, 1, 400, 1]) {
      request("/busy", (root) => {
        record(root, time, "db.query", query("SELECT a FROM b", at(10)));
      });
    }
    // The first query also connects.
    request("/first", (root) => {
      const first = { "db.system.name": "postgresql", ...at(11) };
      record(root, 300, "db.query", query("SELECT b FROM c", first));
    });
  });
  assertEquals(causes, [
    "slow-query: 150 ms: SELECT … FROM sale posts.ts:8",
  ]);
});

Deno.test("Many rows without a limit are a cause, unless the cache keeps them", async () => {
  const causes = await causesIn(({ request, tracer }, record) => {
    const rows = (text: string, count: number) =>
      query(text, { "db.response.returned_rows": count, ...at(2) });
    request("/list", (root) => {
      record(root, 1, "db.query", rows("SELECT a FROM big", 1_000));
      record(root, 1, "db.query", rows("SELECT a FROM less", 999));
      record(root, 1, "db.query", rows("SELECT a FROM big LIMIT 5000", 5_000));
      const get = root.child("cache.get", "data", {
        "app.cache.key": "all",
      });
      record(get, 1, "db.query", rows("SELECT b FROM big", 1_000));
      get.end();
    });
    tracer.withSpan(
      "export",
      "custom",
      (root) => record(root, 1, "db.query", rows("SELECT c FROM big", 9_000)),
    );
  });
  assertEquals(causes, [
    "large-result: 1,000 rows: SELECT … FROM big posts.ts:2",
  ]);
});

Deno.test("Three slow requests in a row are a cause, and single ones or a crowd are none", async () => {
  const causes = await causesIn(({ request, clock, tracer }) => {
    const visit = (path: string, times: readonly number[]) => {
      for (const time of times) request(path, () => clock.advance(time));
    };
    const usual = Array<number>(20).fill(9);
    visit("/steady", usual);
    visit("/steady", [300, 9, 300, 300, 9]);
    visit("/slower", usual);
    visit("/slower", [310, 320, 330]);
    // Too few to compare with, or not by much.
    visit("/few", [...usual.slice(1), 300, 300, 300]);
    visit("/little", [...usual, 90, 90, 90]);
    // Another answer.
    visit("/missing", usual);
    for (let i = 0; i < 3; i++) {
      request("/missing", () => clock.advance(300), {
        "http.response.status_code": 404,
      });
    }
    visit("/crowd", usual);
    const crowd = Array.from(
      { length: 9 },
      () =>
        tracer.startTrace("GET /crowd", "request", {
          attributes: {
            "http.request.method": "GET",
            "url.path": "/crowd",
            "http.response.status_code": 200,
          },
        }),
    );
    clock.advance(400);
    for (const root of crowd) root.end();
  });
  assertEquals(causes, [
    "slow-request: 3 requests in a row took at least 311 ms, usually 10 ms -",
  ]);
});

Deno.test("An error that fails a request or procedure is a cause, and a handled one is none", async () => {
  const causes = await causesIn(({ request }) => {
    const fail = (path: string, status: number, error: Error, line: number) =>
      request(path, (root) => {
        const span = root.child(`loader:${path}`, "data", at(line));
        span.error(error);
        span.end();
        root.setAttribute("http.response.status_code", status);
        if (status >= 500) root.error();
      });
    fail("/broken", 500, new TypeError("Cannot read title"), 12);
    fail("/fallback", 200, new Error("The first server is down"), 13);
    fail("/missing", 404, new Error("No such post"), 14);
    fail("/left", 500, new DOMException("It was aborted", "AbortError"), 15);
    request("/rescued", (root) => {
      const outer = root.child("load", "data");
      const inner = outer.child("try", "data", at(16));
      inner.error(new Error("The first try failed"));
      inner.end();
      outer.end();
      root.setAttribute("http.response.status_code", 500);
      root.error();
    });
    // A batch answers 200, although one of its calls failed.
    request("/api/rpc", (root) => {
      const call = root.child("rpc:posts.list", "rpc", at(17));
      call.error(new Error("postgres://ada:hunter2@db/app is down"));
      call.end();
    });
  });
  assertEquals(causes, [
    "exception: Error: postgres://REDACTED:REDACTED@db/app is down posts.ts:17",
    "exception: TypeError: Cannot read title posts.ts:12",
  ]);
});

/** Returns the attributes of a look-up. */
function lookup(key: string, line: number, reason?: string): Attributes {
  return {
    "app.cache.key": key,
    "app.cache.result": reason?.split(":", 1)[0] ?? "miss",
    ...(reason !== undefined && { "app.reason": reason }),
    ...at(line),
  };
}

Deno.test("A cached function that never hits is a cause, whether the key differs or the value isn't kept", async () => {
  const causes = await causesIn(({ request }, record) => {
    const ask = (path: string, key: string, line: number, reason: string) =>
      request(
        path,
        (root) => record(root, 1, "cache.get", lookup(key, line, reason)),
      );
    for (let i = 0; i < 5; i++) {
      ask("/random", `post:${i}`, 1, "miss: it was never computed");
      ask(
        "/large",
        "all",
        2,
        "miss: not stored: it is larger than maxEntryBytes",
      );
      ask(
        "/purge",
        "a",
        3,
        "miss: tag a was invalidated 2 s ago by GET /purge",
      );
      // Without a hit, too, and as it should be.
      ask(`/posts/${i}`, `post:${i}`, 4, "miss: it was never computed");
      ask("/short", "b", 5, "miss: it expired 4 s ago");
      ask("/edit", "c", 6, "miss: tag c was invalidated 1 s ago by POST /c");
      ask("/off", "d", 7, "miss: not cached: maxAge is 0");
      ask(
        "/page",
        "GET /page",
        8,
        "miss: not stored: the page asked for the user",
      );
      ask("/hit", "e", 9, i < 4 ? "miss: the store doesn't have it" : "hit");
      ask("/four", i < 4 ? "f" : "g", 10, "miss: the store doesn't have it");
      // Each key may belong to another user.
      request("/mine", (root) => {
        root.child("auth:session", "auth", { "app.auth.result": "cookie" })
          .end();
        const reason = "miss: it was never computed";
        record(root, 1, "cache.get", lookup(`user:${i}`, 11, reason));
      });
    }
  });
  assertEquals(causes, [
    "idle-cache: no hit in 5 look-ups of a posts.ts:3",
    "idle-cache: no hit in 5 look-ups of all posts.ts:2",
    "idle-cache: no hit in 5 look-ups with different keys for one URL, such as post:4 posts.ts:1",
  ]);
});

Deno.test("Look-ups that wait for one computation or that hit aren't repeated work", async () => {
  const causes = await causesIn(({ request, clock }, record) => {
    request("/once", (root) => {
      const spans = Array.from(
        { length: 9 },
        () => root.child("cache.get", "data", lookup("settings", 1)),
      );
      clock.advance(5);
      for (const span of spans) span.end();
      for (let i = 0; i < 9; i++) {
        record(root, 1, "cache.get", lookup("settings", 1, "hit"));
      }
    });
    request("/again", (root) => {
      record(root, 1, "cache.get", lookup("rates", 2, "hit"));
      for (let i = 0; i < 6; i++) {
        record(root, 1, "cache.get", lookup("rates", 2));
      }
    });
  });
  assertEquals(causes, ["repeated-call: 6 × rates computed posts.ts:2"]);
});
