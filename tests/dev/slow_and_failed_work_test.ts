/** Rules about slow and failed work, with work that they must not report. */

import { assertEquals } from "@std/assert";
import { at, causesIn, query } from "./made_up_requests.ts";

Deno.test("A query that takes most of a slow request is a cause, unless the machine was busy", async () => {
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
    // A write waits for the disk, which was busy once, or every time.
    for (
      const [text, times] of [["INSERT x", [170]], ["DELETE y", [
        150,
        160,
      ]]] as const
    ) {
      for (const time of times) {
        request("/write", (root) => {
          record(root, time, "db.query", query(text, at(12)));
        });
      }
    }
    // The first query also connects.
    request("/first", (root) => {
      const first = { "db.system.name": "postgresql", ...at(11) };
      record(root, 300, "db.query", query("SELECT b FROM c", first));
    });
  });
  assertEquals(causes, [
    "slow-query: 150 ms: SELECT … FROM sale posts.ts:8",
    "slow-query: 160 ms: DELETE y posts.ts:12",
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

Deno.test("Three slow requests in a row are a cause, and single ones or a crowd aren't", async () => {
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

Deno.test("An error that fails a request or procedure is a cause, and a handled one isn't", async () => {
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
    fail("/left-on-node", 500, new Error("aborted"), 17);
    request("/cut-off", (root) => {
      const span = root.child("render", "data", at(18));
      span.error(new Error("The client left"));
      span.end();
      root.error();
    });
    request("/rescued", (root) => {
      const outer = root.child("load", "data");
      const inner = outer.child("try", "data", at(16));
      inner.error(new Error("The first try failed"));
      inner.end();
      outer.end();
      root.setAttribute("http.response.status_code", 500);
      root.error();
    });
    for (const id of [7, 8]) {
      request(`/users/${id}`, (root) => {
        root.setAttribute("http.route", "/users/:id");
        root.setAttribute("http.response.status_code", 500);
        root.setAttribute("code.file.path", at(19)["code.file.path"]);
        root.setAttribute("code.line.number", 19);
        root.error(new Error(`No user ${id}`));
      });
    }
    // A batch answers 200, although one of its calls failed.
    request("/api/rpc", (root) => {
      const call = root.child("rpc:posts.list", "rpc", at(17));
      call.error(new Error("postgres://ada:hunter2@db/app is down"));
      call.end();
    });
    // Subscriptions run for as long as they want. One of them fails.
    for (const [name, line] of [["prices", 20], ["news", 21]] as const) {
      request(`/${name}`, (root) => {
        const detached = { "app.detached": true };
        const live = root.child(`rpc:${name}`, "rpc", detached);
        const error = new Error("The feed is down");
        for (let i = 0; i < 9; i++) {
          const read = query("SELECT name FROM item", at(line));
          const span = live.child("db.query", "database", read);
          if (i === 8) span.error(error);
          span.end();
        }
        if (name === "prices") live.error(error);
        live.end();
      });
    }
  });
  assertEquals(causes, [
    "exception: Error: No user 8 posts.ts:19",
    "exception: Error: The feed is down posts.ts:20",
    "exception: Error: postgres://REDACTED:REDACTED@db/app is down posts.ts:17",
    "exception: TypeError: Cannot read title posts.ts:12",
  ]);
});
