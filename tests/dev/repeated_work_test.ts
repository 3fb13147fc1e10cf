/** Rules about repeated work and idle caches, with work that they must not report. */

import { assertEquals } from "@std/assert";
import { EPOCH } from "../trace/fakes.ts";
import type { Attributes } from "@quartet/kit/trace";
import { at, causesIn, findIn, query } from "./made_up_requests.ts";

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

Deno.test("A query for each row is a cause also after comments, in parentheses and in Redis", async () => {
  const statements = [
    "-- name: FindUser :one\nSELECT name FROM user WHERE id = $1",
    "/* users.ts */ /**/ SELECT name FROM user WHERE id = $1",
    "(SELECT name FROM user WHERE id = $1)",
    "HGETALL user:?",
    "GET user:?",
  ];
  const causes = await causesIn(({ request }, record) => {
    for (const [line, text] of statements.entries()) {
      request(`/${line}`, (root) => {
        for (let i = 0; i < 5; i++) {
          record(root, 1, "db.query", query(text, at(line)));
          record(root, 1, "db.query", query(`-- SELECT\nDELETE ${line}`));
        }
      });
    }
  });
  assertEquals(
    causes,
    statements.map((text, line) =>
      `repeated-query: 5 × ${text.replace("\n", " ")} posts.ts:${line}`
    ).sort(),
  );
});

Deno.test("Loops that write, poll, read page by page or come from several lines aren't causes", async () => {
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
        // The driver's span below the one of an ORM.
        if (i >= 4) continue;
        const text = "SELECT id FROM tag";
        const orm = root.child("db.query", "database", query(text, at(7)));
        record(orm, 1, "db.query", query(text, at(7)));
        orm.end();
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

Deno.test("A page that calls a query for each row is a cause, and mutations aren't", async () => {
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
      ask(
        "/large",
        "all?token=abcdefgh1234",
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
      for (
        const reason of [
          "not cached: revalidate is 0",
          "not stored: negativeMaxAge is 0",
          "not stored: it was invalidated while it was computed",
          "not stored: a later call has computed it too",
          "it waited for the computation of GET /off",
        ]
      ) ask("/off", reason, 15, `miss: ${reason}`);
      ask(
        "/page",
        "GET /page",
        8,
        "miss: not stored: the page asked for the user",
      );
      ask("/hit", "e", 9, i < 4 ? "miss: the store doesn't have it" : "hit");
      ask("/four", i < 4 ? "f" : "g", 10, "miss: the store doesn't have it");
      // The error is the cause.
      request("/down", (root) => {
        const get = root.child("cache.get", "data", lookup("h", 12));
        get.error(new Error("down"));
        get.end();
      });
      // Each key may belong to another user, unless nobody is signed in.
      const visit = (path: string, key: string, line: number, auth: string) =>
        request(path, (root) => {
          const result = { "app.auth.result": auth };
          root.child("auth:session", "auth", result).end();
          const reason = "miss: it was never computed";
          record(root, 1, "cache.get", lookup(key, line, reason));
        });
      visit("/mine", `user:${i}`, 11, "cookie");
      visit("/now", `news:176722560000${i}`, 13, "cookie");
      visit("/clock", `page:8${i}7.500401`, 15, "cookie");
      const date = new Date(EPOCH + i * 1_000);
      visit("/date", `at:${date.toUTCString()}`, 16, "cookie");
      visit("/report", `at:${date.toJSON()}`, 17, "cookie");
      visit("/sales", `["sales",D${date.getTime()}]`, 18, "cookie");
      visit("/random", `draw:${i}`, 1, "anonymous");
      request(
        "/token",
        (root) => record(root, 1, "cache.get", lookup(`visitor:${i}`, 14)),
      );
    }
  });
  assertEquals(causes, [
    "idle-cache: no hit in 5 look-ups of a posts.ts:3",
    "idle-cache: no hit in 5 look-ups of all?token=REDACTED posts.ts:2",
    'idle-cache: no hit in 5 look-ups with different keys for one URL, such as ["sales",D1767225604000] posts.ts:18',
    "idle-cache: no hit in 5 look-ups with different keys for one URL, such as at:2026-01-01T00:00:04.000Z posts.ts:17",
    "idle-cache: no hit in 5 look-ups with different keys for one URL, such as at:Thu, 01 Jan 2026 00:00:04 GMT posts.ts:16",
    "idle-cache: no hit in 5 look-ups with different keys for one URL, such as draw:4 posts.ts:1",
    "idle-cache: no hit in 5 look-ups with different keys for one URL, such as news:1767225600004 posts.ts:13",
    "idle-cache: no hit in 5 look-ups with different keys for one URL, such as page:847.500401 posts.ts:15",
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
    request("/cold", (root) => {
      const spans = Array.from(
        { length: 9 },
        () => root.child("cache.get", "data", lookup("cold", 3)),
      );
      clock.advance(5);
      for (const span of spans) span.end();
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
