import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  Context,
  createApp,
  currentContext,
  toMiddleware,
  withPlugins,
} from "@quartet/kit/app";
import type { Middleware } from "@quartet/kit/app";
import { compose } from "../../core/middleware.ts";

const request = () => new Request("http://localhost/a?token=hidden");

function run(
  middlewares: readonly Middleware<Context>[],
  end: () => Promise<Response> = () => Promise.resolve(new Response("end")),
): Promise<Response> {
  const received = request();
  // Callers must treat an error that is thrown or rejected the same.
  return new Promise((resolve) =>
    resolve(
      compose<Context, void>(middlewares, end)(received, new Context(received)),
    )
  );
}

Deno.test("compose() runs the first middleware outermost", async () => {
  const order: string[] = [];
  const named = (name: string): Middleware<Context> => async (_r, _c, next) => {
    order.push(`${name} in`);
    const response = await next();
    order.push(`${name} out`);
    return response;
  };
  const response = await run([named("a"), named("b")]);
  assertEquals(await response.text(), "end");
  assertEquals(order, ["a in", "b in", "b out", "a out"]);
});

Deno.test("compose() without middlewares calls the end of the chain", async () => {
  assertEquals(await (await run([])).text(), "end");
});

Deno.test("compose() stops at a middleware that doesn't call next()", async () => {
  let reached = false;
  const response = await run([
    () => new Response("early"),
    (_request, _context, next) => {
      reached = true;
      return next();
    },
  ]);
  assertEquals(await response.text(), "early");
  assertEquals(reached, false);
});

Deno.test("compose() rejects a second call of next()", async () => {
  let ends = 0;
  await assertRejects(
    () =>
      run([
        async (_request, _context, next) => {
          await next();
          return await next();
        },
      ], () => {
        ends++;
        return Promise.resolve(new Response());
      }),
    Error,
    "Cannot call next() twice",
  );
  assertEquals(ends, 1);
});

Deno.test("compose() runs concurrent requests", async () => {
  const chain = compose<Context, number>([
    async (_request, _context, next) => await next(),
    (_request, _context, next) => next(),
  ], (_request, _context, i) => Promise.resolve(new Response(`${i}`)));
  const bodies = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const received = request();
      const response = await chain(received, new Context(received), i);
      return Number(await response.text());
    }),
  );
  assertEquals(bodies, Array.from({ length: 20 }, (_, i) => i));
});

for (
  const [value, name] of [
    [undefined, "undefined; return next()"],
    [null, "null"],
    ["text", "a string"],
    [{ status: 200 }, "an object"],
  ] as const
) {
  Deno.test(`compose() reports a middleware that returns ${name}`, async () => {
    const error = await assertRejects(
      () => run([() => value as unknown as Response]),
      TypeError,
    );
    assertEquals(
      error.message,
      `Cannot answer GET /a: a middleware must return a Response, received ${name}`,
    );
  });
}

Deno.test("compose() passes a synchronous throw to the outer middleware as a rejection", async () => {
  const outer: Middleware<Context> = (_request, _context, next) =>
    next().catch((error) => new Response(`caught ${error.message}`));
  const throws: Middleware<Context> = () => {
    throw new Error("at once");
  };
  const rejects: Middleware<Context> = () => Promise.reject(new Error("later"));
  assertEquals(await (await run([outer, throws])).text(), "caught at once");
  assertEquals(await (await run([outer, rejects])).text(), "caught later");
});

Deno.test("app.use() rejects a non-function and names its type", () => {
  const values: [unknown, string][] = [
    [undefined, "undefined"],
    [null, "null"],
    [[], "an array"],
    [{}, "an object"],
    ["secret", "a string"],
    [5, "a number"],
    [Symbol("secret"), "a symbol"],
  ];
  for (const [value, kind] of values) {
    const error = assertThrows(
      () => createApp().use(value as Middleware<Context>),
      TypeError,
    );
    assertEquals(
      error.message,
      `Cannot use middleware: it must be a function, received ${kind}`,
    );
  }
});

const echo = ({ url }: Request) =>
  new Response(`${url} ${(currentContext() as Context).request.url}`);

const HOSTS: Readonly<
  Record<string, (queue: Middleware) => (request: Request) => Promise<Response>>
> = {
  "createApp()": (queue) =>
    createApp().use(queue).route({ path: "/*", handler: echo }).fetch,
  "withPlugins()": (queue) => withPlugins([queue], echo).fetch,
  "toMiddleware()": (queue) => {
    const middleware = toMiddleware(queue);
    return (request) => middleware(request, undefined, () => echo(request));
  },
};

for (const [name, createFetch] of Object.entries(HOSTS)) {
  Deno.test(`${name}: a request that waits in a queue keeps its request and context`, async () => {
    let resume: (() => void) | undefined;
    // The code of the next request continues the one that waits.
    const queue: Middleware = (_request, _context, next) => {
      resume?.();
      return new Promise((resolve, reject) => {
        resume = () => next().then(resolve, reject);
      });
    };
    const fetch = createFetch(queue);
    const urls = ["a", "b", "c"].map((name) => `http://localhost/${name}`);
    const responses: Promise<Response>[] = [];
    for (const url of urls) {
      responses.push(fetch(new Request(url)));
      await new Promise((resolve) => setTimeout(resolve));
    }
    // The last one continues outside any request.
    resume!();
    for (const [i, url] of urls.entries()) {
      assertEquals(await (await responses[i]!).text(), `${url} ${url}`);
    }
  });
}
