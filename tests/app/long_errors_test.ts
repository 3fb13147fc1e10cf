import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createTracer, serializeTrace, tracePlugin } from "@quartet/kit/trace";
import { assertLinear } from "../growth.ts";

const MARKER = " is not valid JSON";

/** Returns the log and the trace of an error that a handler throws. */
async function outputsOf(
  error: unknown,
): Promise<{ log: string; trace: string }> {
  const tracer = createTracer();
  await using app = createApp({
    trace: tracePlugin(tracer),
    routes: [{ path: "/", handler: () => Promise.reject(error) }],
  });
  const logged: unknown[] = [];
  const { error: original } = console;
  console.error = (...args) => logged.push(...args);
  try {
    const response = await app.fetch(new Request("http://localhost/"));
    assertEquals(response.status, 500);
  } finally {
    console.error = original;
  }
  const log = logged.map((part) =>
    typeof part === "string" ? part : Deno.inspect(part)
  ).join(" ");
  const trace = JSON.stringify(tracer.getTraces().map(serializeTrace));
  return { log, trace };
}

/** Repeats a text up to a length. */
const fill = (text: string) => (length: number) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);

const ADVERSARIAL: Readonly<Record<string, (length: number) => unknown>> = {
  "quotation marks": (n) => new Error(fill('"')(n) + MARKER),
  "quotation marks without a marker": (n) => new Error(fill('"')(n)),
  "a marker and quotation marks": (n) => new Error(MARKER + fill('"')(n)),
  "half markers": (n) => new Error(fill(`"${MARKER.slice(0, -1)}`)(n) + MARKER),
  markers: (n) => new Error(fill(MARKER)(n)),
  "quotes and markers": (n) => new Error(fill(`"..."${MARKER}`)(n)),
  dots: (n) => new Error(fill("...")(n) + `"a"${MARKER}`),
  "line breaks": (n) => new Error(fill("\n")(n)),
  "frames": (n) => new Error(fill("\n    at f (file:///a.ts:1:1)")(n)),
  "control characters": (n) => new Error(fill("\x1b\u202e\ud800")(n)),
  "identifiers quoted by another engine": (n) =>
    new Error(fill('JSON Parse error: Unexpected identifier "')(n)),
  "a thrown text": fill(`"..."${MARKER}`),
  "a property": (n) =>
    Object.assign(new Error("with a property"), { body: fill('\n"')(n) }),
  "properties": (n) =>
    Object.assign(new Error("with properties"), {
      keys: Object.fromEntries(
        Array.from({ length: n / 10 }, (_, i) => [`key ${i}`, i]),
      ),
    }),
  "causes": (n) => {
    let error = new Error("first");
    for (let i = 0; i < n / 100; i++) {
      error = new Error("next", { cause: error });
    }
    return error;
  },
  "a cause": (n) => new Error("outer", { cause: new Error(fill('"')(n)) }),
  "errors of an AggregateError": (n) =>
    new AggregateError(
      Array.from({ length: n / 100 }, () => new Error(fill('"')(100))),
      "many",
    ),
  "nested arrays": (n) => {
    let list: unknown[] = [];
    for (let i = 0; i < n / 10; i++) list = [list];
    return Object.assign(new Error("nested"), { list });
  },
  "a name": (n) => Object.assign(new Error("named"), { name: fill('"')(n) }),
  "a stack": (n) =>
    Object.assign(new Error("with a stack"), { stack: fill('"')(n) + MARKER }),
  "an object": (n) => ({ text: fill('"')(n), list: new Array(n).fill("a") }),
};

/** Values that `inspect()` prints at 100 times their own length. */
const list = (item: unknown) => new Array(100).fill(item);

for (const [name, prepare] of Object.entries(ADVERSARIAL)) {
  Deno.test(`Logging and tracing an error with ${name} takes linear time`, () =>
    assertLinear(name, { prepare, run: outputsOf }));
}

Deno.test("The log and the trace of a 50 MB error are truncated, and show that they are", async () => {
  const { log, trace } = await outputsOf(new Error("x".repeat(50_000_000)));
  for (const told of [log, trace]) {
    assert(told.length < 40_000, `${told.length} characters`);
    assertStringIncludes(told, "more characters)");
    assertStringIncludes(told, "long_errors_test.ts");
  }
});

for (
  const [name, error] of Object.entries({
    "a property of 50 MB": Object.assign(new Error("large"), {
      body: "x".repeat(50_000_000),
    }),
    "a cause of 50 MB": new Error("outer", {
      cause: new Error("x".repeat(50_000_000)),
    }),
    "10,000 causes": Array.from({ length: 10_000 }).reduce<Error>(
      (cause, _, i) => new Error(`cause ${i}`, { cause }),
      new Error("first"),
    ),
    "10,000 errors": new AggregateError(
      Array.from({ length: 10_000 }, (_, i) => new Error(`error ${i}`)),
      "many",
    ),
    "100,000 keys": Object.assign(new Error("keys"), {
      body: Object.fromEntries(
        Array.from({ length: 100_000 }, (_, i) => [i, i]),
      ),
    }),
    "an array of a million items": Object.assign(new Error("list"), {
      list: new Array(1_000_000).fill("x".repeat(100)),
    }),
    "a large thrown array": new Array(1_000_000).fill("x".repeat(100)),
    "a large thrown object": { text: "x".repeat(50_000_000) },
    "a line break a character": new Error("\n".repeat(1_000_000)),
    "an input with repeated references": Object.assign(
      new Error("shared"),
      { input: Array.from({ length: 9 }).reduce(list, "x") },
    ),
    "a form of 100,000 fields": Object.assign(new Error("form"), {
      form: new URLSearchParams("a&".repeat(100_000)),
    }),
    "a custom inspect method": {
      [Symbol.for("nodejs.util.inspect.custom")]: () => "x".repeat(5_000_000),
    },
  })
) {
  Deno.test(`An error with ${name} makes neither the log nor the trace long`, async () => {
    const { log, trace } = await outputsOf(error);
    assert(log.length < 100_000, `${log.length} characters`);
    assert(trace.length < 40_000, `${trace.length} characters`);
  });
}

Deno.test("An error whose properties throw is logged and recorded", async () => {
  for (const key of ["message", "stack", "name", "cause", "errors", "own"]) {
    const error = Object.defineProperty(new Error("odd"), key, {
      enumerable: true,
      get() {
        throw new Error("not you");
      },
    });
    const { log, trace } = await outputsOf(error);
    assertStringIncludes(log, "failed: GET /");
    assertStringIncludes(trace, '"status":"error"');
  }
});

Deno.test("The log shows an error's own properties even if its message is long", async () => {
  const error = Object.assign(new Error("x".repeat(100_000)), {
    code: "EPIPE",
  });
  const { log } = await outputsOf(error);
  assertStringIncludes(log, '{ code: "EPIPE" }');
});

Deno.test("A quoted source is removed, also where the text is truncated", async () => {
  const secret = "hunter22&".repeat(8);
  // Lengths around each limit, and above all limits.
  const places = [2_016, 4_032, 4_096, 8_192, 65_536, 1_048_576, 3_000_000]
    .flatMap((at) => [at - 100, at - 40, at - 10, at - 1, at, at + 10]);
  for (const at of [0, 100, ...places]) {
    for (const dots of ["", "..."]) {
      const message = "x".repeat(at) + `${dots}"${secret}"${dots}${MARKER}`;
      for (
        const error of [
          new SyntaxError(message),
          message,
          new Error("outer", { cause: new SyntaxError(message) }),
          new AggregateError([new SyntaxError(message)], "many"),
          Object.assign(new Error("short"), { stack: message }),
          Object.assign(new Error(message), { message: "short" }),
          Object.assign(new Error("x".repeat(9_000)), { body: message }),
        ]
      ) {
        const { log, trace } = await outputsOf(error);
        assert(!log.includes("hunter"), `${at}: ${log.slice(0, 200)}`);
        assert(!trace.includes("hunter"), `${at}: ${trace.slice(0, 200)}`);
      }
    }
  }
});

Deno.test("A quoted source longer than every limit is removed", async () => {
  for (const length of [10_000, 300_000, 3_000_000]) {
    const source = "hunter22&".repeat(length / 9);
    const error = new SyntaxError(`Unexpected token 'h', "${source}"${MARKER}`);
    const { log, trace } = await outputsOf(error);
    for (const told of [log, trace]) {
      assert(!told.includes("hunter"), told.slice(0, 200));
      assertStringIncludes(told, "Unexpected token 'h', ");
      assertStringIncludes(told, "long_errors_test.ts");
    }
  }
});

Deno.test("A quoted source that contains a quote and a marker is removed completely", async () => {
  for (
    const body of [`"a"${MARKER}, hunter22`, `"${MARKER}"${MARKER} hunter22`]
  ) {
    const error = new SyntaxError(`Unexpected token 'x', "${body}"${MARKER}`);
    const { log, trace } = await outputsOf(error);
    assert(!log.includes("hunter"), log);
    assert(!trace.includes("hunter"), trace);
  }
});

Deno.test("An identifier quoted by JavaScriptCore is removed", async () => {
  const message = 'JSON Parse error: Unexpected identifier "hunter22"';
  for (
    const error of [
      new SyntaxError(message),
      new Error(`Bad: ${message}`),
      // A quoted text that begins another quoted text.
      new Error(message.replace("hunter22", message)),
    ]
  ) {
    const { log, trace } = await outputsOf(error);
    assert(!log.includes("hunter"), log);
    assert(!trace.includes("hunter"), trace);
    assertStringIncludes(log, "JSON Parse error");
  }
});
