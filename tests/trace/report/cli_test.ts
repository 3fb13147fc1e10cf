import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import {
  type Attributes,
  type CLIReporterOptions,
  createCLIReporter,
  type Layer,
  type TracerImpl,
  type TracerOptions,
} from "@quartet/kit/trace";
import { createTestTracer, type ManualClock } from "../fakes.ts";

/** Returns the output while `run` traces something. */
function printed(
  run: (tracer: TracerImpl, clock: ManualClock) => void,
  options: CLIReporterOptions = {},
  tracerOptions: TracerOptions = {},
): string {
  const { tracer, clock } = createTestTracer(tracerOptions);
  let text = "";
  const reporter = createCLIReporter(tracer, {
    write: (part) => text += part,
    color: false,
    width: 100,
    ...options,
  });
  run(tracer, clock);
  reporter.close();
  return text;
}

/** Returns attributes of a request's root span. */
function request(method: string, path: string, status: number) {
  return {
    attributes: {
      "http.request.method": method,
      "url.path": path,
      "http.response.status_code": status,
    },
  };
}

Deno.test("A request is printed as a tree of its spans", () => {
  const text = printed((tracer, clock) => {
    const root = tracer.startTrace(
      "GET /countries/fr",
      "request",
      request("GET", "/countries/fr", 200),
    );
    clock.advance(0.05);
    const match = root.child("route.match", "routing", {
      "http.route": "/countries/:code",
    });
    clock.advance(0.12);
    match.end();
    const loader = root.child("loader:country", "data");
    const query = loader.child("db.query", "database", {
      "db.query.text": "SELECT *\n  FROM country\tWHERE code = ?",
    });
    clock.advance(12.34);
    query.end();
    const cache = loader.child("cache.get", "data", {
      "app.cache.key": "fr",
      "app.cache.result": "miss",
    });
    clock.advance(1);
    cache.end();
    loader.end();
    root.end();
  });
  assertEquals(
    text,
    `\
GET /countries/fr 200 13.5ms
├─ routing       0.12ms  /countries/:code
└─ data          13.3ms  loader:country
   ├─ database   12.3ms  SELECT * FROM country WHERE code = ?
   └─ data       1.00ms  cache.get fr miss
`,
  );
});

Deno.test("A span of the cache, auth or RPC is printed with the reason for its result", () => {
  const reasons: [string, Layer, Attributes][] = [
    ["cache.get", "data", {
      "app.cache.key": "post:7",
      "app.cache.result": "miss",
      "app.reason": "miss: it expired 3 s ago",
    }],
    ["auth:requireRoles", "auth", {
      "app.auth.reason": "roles",
      "app.reason": "refused: role admin is required",
    }],
    ["rpc:posts.add", "rpc", {
      "rpc.method": "posts.add",
      "rpc.status_code": "VALIDATION_ERROR",
      "app.reason": "refused: title: must not be empty, which is a long reason",
    }],
  ];
  const text = printed((tracer) => {
    const root = tracer.startTrace(
      "GET /",
      "request",
      request("GET", "/", 200),
    );
    for (const each of reasons) root.child(...each).end();
    root.end();
  }, { width: 80 });
  assertEquals(
    text,
    `\
GET / 200 0.00ms
├─ data   0.00ms  cache.get post:7 miss: it expired 3 s ago
├─ auth   0.00ms  auth:requireRoles refused: role admin is required
└─ rpc    0.00ms  rpc:posts.add refused: title: must not be empty, which is a …
`,
  );
});

Deno.test("A long key of a cache is cut before the reason for its result", () => {
  const line = (key: string, reason: string, width: number) => {
    const text = printed((tracer) => {
      const root = tracer.startTrace("job", "custom");
      root.child("cache.get", "data", {
        "app.cache.key": key,
        "app.cache.result": "miss",
        "app.reason": reason,
      }).end();
      root.end();
    }, { width });
    const [, line] = text.split("\n");
    assert(line!.length <= width, line);
    return line!.slice(line!.indexOf("cache.get"));
  };
  const key = `["total","2db655d5-8a53-4e8c-9f0e-d5e0c2f6a111"]`;
  const reason = "miss: tag expenses was invalidated 12 s ago by rpc:add";
  assertEquals(line(key, reason, 160), `cache.get ${key} ${reason}`);
  assertEquals(line(key, reason, 100), `cache.get ["total","2db65… ${reason}`);
  assertEquals(
    line(key, reason, 70),
    `cache.get ["total","2… miss: tag expenses was inva…`,
  );
  assertMatch(
    line("k".repeat(500), "\u001b".repeat(500), 100),
    /^cache\.get k{11}… (\\x1b)+/,
  );
  assertEquals(line("fr", "miss", 60), "cache.get fr miss");
});

Deno.test("A refused call without a span of its own is printed with its reason, or its code", () => {
  const line = (reason: string | undefined, width = 100, path = "/api/rpc") => {
    const text = printed((tracer) => {
      const root = tracer.startTrace(
        "request",
        "request",
        request("POST", path, 404),
      );
      root.setAttribute("rpc.status_code", "NOT_FOUND");
      if (reason !== undefined) root.setAttribute("app.reason", reason);
      root.end();
    }, { width });
    const [line] = text.split("\n");
    assert(line!.length <= width, line);
    return line;
  };
  assertEquals(
    line("refused: Procedure not found: expense.add"),
    "POST /api/rpc 404 0.00ms Procedure not found: expense.add",
  );
  for (const reason of [undefined, "refused: NOT_FOUND"]) {
    assertEquals(line(reason), "POST /api/rpc 404 0.00ms NOT_FOUND");
  }
  assertEquals(
    line(`refused: ${"why ".repeat(100)}`, 60, `/${"x".repeat(200)}`),
    "POST /xxxxxxxxxxxxx… 404 0.00ms why why why why why why…",
  );
});

Deno.test("A trace that isn't a request is printed with its name", () => {
  const text = printed((tracer, clock) => {
    tracer.withSpan("build:site", "build", () => {
      clock.advance(1_234.5);
    });
  });
  assertEquals(text, "build:site 1.23s\n");
});

Deno.test("Repeated spans share a line with their count and total time", () => {
  const text = printed((tracer, clock) => {
    const root = tracer.startTrace(
      "GET /",
      "request",
      request("GET", "/", 200),
    );
    const query = (text: string, ms: number) => {
      const span = root.child("db.query", "database", {
        "db.query.text": text,
      });
      clock.advance(ms);
      span.end();
    };
    for (let i = 0; i < 12; i++) query("SELECT 1", 2);
    query("SELECT 2", 1);
    for (let i = 0; i < 2; i++) query("SELECT 1", 1);
    for (let i = 0; i < 2; i++) {
      const parent = root.child("same", "custom");
      parent.child("below", "custom").end();
      parent.end();
    }
    root.end();
  });
  assertEquals(
    text,
    `\
GET / 200 27.0ms
├─ database    24.0ms  SELECT 1 × 12
├─ database    1.00ms  SELECT 2
├─ database    2.00ms  SELECT 1 × 2
├─ custom      0.00ms  same
│  └─ custom   0.00ms  below
└─ custom      0.00ms  same
   └─ custom   0.00ms  below
`,
  );
});

Deno.test("A line with a failure fits into the terminal", () => {
  const text = printed((tracer) => {
    const root = tracer.startTrace("GET /", "request");
    const span = root.child("n".repeat(200), "custom");
    span.error(new SyntaxError("m".repeat(200)));
    span.end();
    root.end();
  }, { width: 100 });
  const [, line] = text.split("\n");
  assertEquals(line!.length, 100);
  assertMatch(line!, /n… SyntaxError: m+…$/);
});

Deno.test("Failures and unfinished spans are marked on their line", () => {
  const text = printed((tracer) => {
    const root = tracer.startTrace(
      "GET /",
      "request",
      request("GET", "/", 500),
    );
    const failed = root.child("loader:a", "data");
    failed.error(new TypeError("no"));
    failed.end();
    const marked = root.child("loader:b", "data");
    marked.error();
    marked.end();
    root.child("loader:c", "data");
    const refused = root.child("auth:signIn", "auth", {
      "app.reason": "refused: no such user",
    });
    refused.error(new Error("no such user"));
    refused.end();
    root.error(new TypeError("no"));
    root.setAttribute("error.type", "500");
    root.end();
    const job = tracer.startTrace("job", "custom");
    job.error(new RangeError("no"));
    job.end();
  });
  assertEquals(
    text,
    `\
GET / 500 0.00ms TypeError: no
├─ data   0.00ms  loader:a TypeError: no
├─ data   0.00ms  loader:b error
├─ data   0.00ms  loader:c did not end
└─ auth   0.00ms  auth:signIn Error: no such user
job 0.00ms RangeError: no
`,
  );
});

Deno.test("A large trace is printed up to 60 lines, and the rest is counted", () => {
  const text = printed(
    (tracer) => {
      const root = tracer.startTrace("job", "custom");
      for (let i = 0; i < 100; i++) root.child(`step ${i}`, "custom").end();
      root.end();
    },
    {},
    { maxSpansPerTrace: 81 },
  );
  const lines = text.split("\n");
  assertEquals(lines.length, 64);
  assertEquals(lines[60], "├─ custom   0.00ms  step 59");
  assertEquals(lines[61], "   … 20 more lines");
  assertEquals(lines[62], "   ! 20 more spans were not recorded");
});

Deno.test("A trace nested 10,000 spans deep is printed", () => {
  const text = printed(
    (tracer) => {
      const root = tracer.startTrace("job", "custom");
      let span = root;
      for (let i = 0; i < 9_999; i++) span = span.child(`step ${i}`, "custom");
      root.end();
    },
    {},
    { maxSpansPerTrace: 10_000 },
  );
  assertStringIncludes(text, "   … 9939 more lines\n");
});

Deno.test("Durations have three significant digits", () => {
  const text = printed((tracer, clock) => {
    for (const ms of [0, 0.004, 0.006, 9.994, 10.04, 999.9, 1_000, 65_432]) {
      const span = tracer.startTrace("job");
      clock.advance(ms);
      span.end();
    }
  });
  const durations = text.trim().split("\n").map((line) => line.split(" ")[1]);
  assertEquals(durations, [
    "0.00ms",
    "0.00ms",
    "0.01ms",
    "9.99ms",
    "10.0ms",
    "999.9ms",
    "1.00s",
    "65.43s",
  ]);
});

Deno.test("Long texts are cut to the width of the terminal", () => {
  const text = printed((tracer) => {
    const long = "x".repeat(200);
    const root = tracer.startTrace(
      "GET",
      "request",
      request("GET", `/${long}`, 200),
    );
    root.child(long, "custom").end();
    root.end();
  }, { width: 60 });
  const [first, second] = text.split("\n");
  assert(first!.length <= 60, first);
  assert(second!.length <= 60, second);
  assertMatch(first!, /^GET \/x+… 200 0\.00ms$/);
  assertMatch(second!, /x…$/);
});

/** Prints a slow job, and its slow, failed and quick query, all of one line. */
function printedLines(file: string, width: number): string[] {
  const { tracer, clock } = createTestTracer();
  const attributes = {
    "code.file.path": file,
    "code.line.number": 41,
    "db.query.text": `SELECT ${"x".repeat(60)}`,
  };
  let text = "";
  using _reporter = createCLIReporter(tracer, {
    write: (part) => text += part,
    color: false,
    width,
    slowMs: 100,
  });
  const root = tracer.startTrace("job", "custom", { attributes });
  const slow = root.child("slow", "database", attributes);
  clock.advance(100);
  slow.end();
  const failed = root.child("failed", "database", attributes);
  failed.error();
  failed.end();
  root.child("quick", "database", attributes).end();
  root.end();
  return text.split("\n").slice(0, 4);
}

Deno.test("Slow and failed spans show their line of code", () => {
  for (
    const [file, place] of [
      [`${Deno.cwd()}/src/posts.ts`, "src/posts.ts:41"],
      [new URL("../x.ts", `file://${Deno.cwd()}/`).pathname, "../x.ts:41"],
      ["/elsewhere/x.ts", "/elsewhere/x.ts:41"],
    ] as const
  ) {
    const [root, slow, failed, quick] = printedLines(file, 80);
    assertEquals(root, `job 100.0ms ${place}`);
    assertMatch(slow!, /SELECT x+… \S+$/);
    assert(slow!.endsWith(`… ${place}`), slow);
    assert(failed!.endsWith(`error ${place}`), failed);
    assert(!quick!.includes(place), quick);
    for (const line of [slow!, failed!]) assert(line.length <= 80, line);
  }
});

Deno.test("A narrow terminal shows the work of a span before its line of code", () => {
  const [, ...lines] = printedLines(`${Deno.cwd()}/src/posts.ts`, 50);
  for (const line of lines) {
    assertMatch(line, /SELECT x+…/);
    assert(!line.includes("posts.ts"), line);
  }
});

Deno.test("Colours distinguish layers, statuses and durations", () => {
  const text = printed((tracer, clock) => {
    const root = tracer.startTrace(
      "GET /",
      "request",
      request("GET", "/", 200),
    );
    const query = root.child("db.query", "database");
    clock.advance(100);
    query.end();
    clock.advance(400);
    root.end();
  }, { color: true });
  assertEquals(
    text,
    "\x1b[1mGET /\x1b[22m \x1b[32m200\x1b[39m \x1b[31m500.0ms\x1b[39m\n" +
      "\x1b[2m└─ \x1b[22m\x1b[33mdatabase\x1b[39m \x1b[33m 100.0ms\x1b[39m  db.query\n",
  );
});

Deno.test("Each class of status has its colour", () => {
  for (const [status, code] of [[204, 32], [302, 36], [404, 33], [503, 31]]) {
    const text = printed((tracer) => {
      const root = request("GET", "/", status!);
      tracer.startTrace("GET /", "request", root).end();
    }, { color: true });
    assertStringIncludes(text, `\x1b[${code}m${status}\x1b[39m`);
  }
});

Deno.test("slowMs sets the duration from which spans are highlighted", () => {
  const text = printed((tracer, clock) => {
    for (const ms of [9, 10, 50]) {
      const span = tracer.startTrace("job");
      clock.advance(ms);
      span.end();
    }
  }, { color: true, slowMs: 10 });
  assertEquals(
    text.split("\n").slice(0, 3).map((line) =>
      // deno-lint-ignore no-control-regex -- colour codes
      /\x1b\[(\d+)m[\d.]+ms/.exec(line)?.[1]
    ),
    ["2", "33", "31"],
  );
});

const HOSTILE = [
  "\x1b[31mred\x1b]0;title\x07",
  "a\nb\r\nc",
  "bell\x07 back\x08 delete\x7f",
  "\x9b31mC1\x85",
  "\u202egnp.exe\u202c \u2066x\u2069 \u200f\u200e\u061c",
  "zero\u200bwidth\ufeff",
  "line\u2028paragraph\u2029",
  "lone\ud800",
];

Deno.test("A long subscription doesn't count as slow", () => {
  const text = printed((tracer, clock) => {
    const root = tracer.startTrace("rpc:news", "rpc", {
      attributes: { "app.detached": true, "app.rpc.end": "socket_closed" },
    });
    clock.advance(60_000);
    root.end();
  }, { color: true });
  assertEquals(
    text,
    "\x1b[1mrpc:news\x1b[22m \x1b[2m60.00s\x1b[22m socket_closed\n",
  );
});

Deno.test("No text from clients or span names reaches the terminal unescaped", () => {
  for (const evil of HOSTILE) {
    const text = printed((tracer) => {
      const root = tracer.startTrace("x", "request", request(evil, evil, 200));
      root.child(evil, "custom").end();
      root.child("route.match", "routing", { "http.route": evil }).end();
      root.child("q", "database", { "db.query.text": evil }).end();
      root.child("c", "data", {
        "app.cache.key": evil,
        "app.cache.result": evil,
      }).end();
      root.child("l", evil as Layer).end();
      const failed = root.child("f", "errors", { "error.type": evil });
      failed.error();
      failed.end();
      root.end();
      tracer.startTrace(evil, "custom").end();
    });
    assertEquals(text.split("\n").length, 9, JSON.stringify(text));
    assert(text.isWellFormed());
    const raw =
      // deno-lint-ignore no-control-regex -- none of these may be printed
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
    assert(!raw.test(text), JSON.stringify(text));
  }
});

Deno.test("A control character is shown as its code, and a line break as ⏎", () => {
  const text = printed((tracer) => {
    tracer.startTrace("a\x1bb\u202ec\nd\x07").end();
  });
  assertEquals(text, "a\\x1bb\\u202ec⏎d\\x07 0.00ms\n");
});

Deno.test("Each trace is written at once, so that concurrent ones don't interleave", async () => {
  const { tracer } = createTestTracer();
  const parts: string[] = [];
  createCLIReporter(tracer, {
    write: (text) => parts.push(text),
    color: false,
  });
  await Promise.all(
    Array.from(
      { length: 20 },
      (_, i) =>
        tracer.withSpan(`job ${i}`, "custom", async () => {
          for (let k = 0; k < 3; k++) {
            await new Promise((resolve) => setTimeout(resolve, (i * k) % 4));
            tracer.withSpan(`step ${i}`, "custom", () => {});
          }
        }),
    ),
  );
  assertEquals(parts.length, 20);
  for (const part of parts) {
    assertMatch(
      part,
      /^job (\d+) [\d.]+ms\n└─ custom +[\d.]+ms +step \1 × 3\n$/,
    );
  }
});

Deno.test("stop() ends the reports", () => {
  const { tracer } = createTestTracer();
  let text = "";
  const reporter = createCLIReporter(tracer, {
    write: (part) => text += part,
    color: false,
  });
  tracer.startTrace("before").end();
  reporter.close();
  reporter.close();
  tracer.startTrace("after").end();
  assertEquals(text, "before 0.00ms\n");
});

/** Returns the output of a process whose output isn't a terminal. */
async function printOne(
  env: Record<string, string>,
  permissions: readonly string[],
  args: readonly string[] = [],
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      ...permissions,
      new URL("./print_one_trace.ts", import.meta.url).href,
      ...args,
    ],
    env: {
      PATH: Deno.env.get("PATH") ?? "",
      HOME: Deno.env.get("HOME") ?? "",
      ...env,
    },
    clearEnv: true,
  }).output();
  const text = new TextDecoder().decode(stdout);
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  assertStringIncludes(text, "job");
  return text;
}

async function printsColor(
  env: Record<string, string>,
  permissions = ["--allow-env"],
): Promise<boolean> {
  return (await printOne(env, permissions)).includes("\x1b[");
}

Deno.test("NO_COLOR takes precedence over FORCE_COLOR, and that over the kind of output", async () => {
  const cases: [Record<string, string>, boolean][] = [
    [{}, false],
    [{ FORCE_COLOR: "1" }, true],
    [{ FORCE_COLOR: "" }, true],
    [{ FORCE_COLOR: "0" }, false],
    [{ FORCE_COLOR: "false" }, false],
    [{ NO_COLOR: "1", FORCE_COLOR: "1" }, false],
    [{ NO_COLOR: "0", FORCE_COLOR: "1" }, false],
    [{ NO_COLOR: "", FORCE_COLOR: "1" }, true],
  ];
  for (const [env, expected] of cases) {
    assertEquals(await printsColor(env), expected, JSON.stringify(env));
  }
});

Deno.test("A reporter needs no permission", async () => {
  assertEquals(await printsColor({}, ["--no-prompt"]), false);
});

Deno.test("With viewerURL, each trace ends with a link to it", () => {
  const viewerURL = "http://localhost:8000/__app/traces";
  let link = "";
  const run = (tracer: TracerImpl) => {
    const root = tracer.startTrace("job");
    root.child("step", "custom").end();
    root.end();
    link = `${viewerURL}#trace=${root.traceId}&span=${root.id}`;
  };
  for (const url of [viewerURL, new URL(viewerURL), () => viewerURL]) {
    const lines = printed(run, { viewerURL: url, width: 20 }).split("\n");
    assertEquals(lines.length, 4);
    // Not cut: it would be useless.
    assertEquals(lines[2], `   ${link}`);
  }
  const styled = printed(run, { viewerURL, color: true });
  assertStringIncludes(
    styled,
    `\n\x1b[2m   ${link}\x1b[22m\n`,
  );
});

Deno.test("A viewer's URL that isn't known yet prints no link", () => {
  const text = printed((tracer) => tracer.startTrace("job").end(), {
    viewerURL: () => undefined,
  });
  assertMatch(text, /^job .*\n$/);
});

Deno.test("A link is a hyperlink where the terminal takes them, or where FORCE_HYPERLINK says so", async () => {
  const url = "http://localhost:8000/__app/traces";
  const isHyperlink = async (env: Record<string, string>, allow: string) =>
    (await printOne(env, [allow], [url])).includes(`\x1b]8;;${url}#trace=`);
  const kitty = { TERM: "xterm-kitty" };
  const on = { FORCE_HYPERLINK: "1" };
  assertEquals(await isHyperlink(kitty, "--allow-env"), false);
  assertEquals(await isHyperlink(on, "--allow-env"), true);
  assertEquals(await isHyperlink(on, "--no-prompt"), false);
  assertEquals(await isHyperlink({ FORCE_HYPERLINK: "0" }, "-A"), false);
});
