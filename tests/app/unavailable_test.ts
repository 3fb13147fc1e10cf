import { assertEquals, assertThrows } from "@std/assert";
import {
  createApp,
  toHono,
  toMiddleware,
  UnavailableError,
  withPlugins,
} from "@quartet/kit/app";
import type { Mountable } from "@quartet/kit/app";
import { Hono } from "hono";
import { captureErrors } from "../helpers.ts";

const fail = () => {
  throw new UnavailableError("Cannot reach database at 10.0.0.7", {
    retryAfter: 4.2,
    cause: new Error("connection refused"),
  });
};
const failing: Mountable = { name: "failing", middleware: fail };
const get = (path = "/") => new Request(`http://localhost${path}`);

/** Asserts that a response is the kit's 503 and hides the cause. */
async function assertUnavailable(response: Response): Promise<void> {
  assertEquals(response.status, 503);
  assertEquals(response.headers.get("retry-after"), "5");
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals(await response.json(), {
    ok: false,
    error: {
      code: "UNAVAILABLE",
      message: "The service is temporarily unavailable",
    },
  });
}

/** Runs `fn` and asserts that it logs nothing. */
async function silently(fn: () => Promise<void>): Promise<void> {
  using captured = captureErrors();
  await fn();
  assertEquals(captured.calls, []);
}

Deno.test("An app answers an UnavailableError with 503 and Retry-After, and doesn't report it", async () => {
  const errors: unknown[] = [];
  const app = createApp({
    routes: [
      { path: "/handler", handler: fail },
      { path: "/loader", loader: () => Promise.reject(thrown()) },
      { path: "/action", action: fail },
      { path: "/middleware", loader: () => "never" },
    ],
    onError: (error) => errors.push(error),
  });
  app.use((request, _context, next) =>
    request.url.endsWith("/middleware") ? fail() : next()
  );
  await assertUnavailable(await app.fetch(get("/handler")));
  await assertUnavailable(await app.fetch(get("/loader")));
  await assertUnavailable(await app.fetch(get("/middleware")));
  const post = new Request("http://localhost/action", { method: "POST" });
  await assertUnavailable(await app.fetch(post));
  assertEquals(errors, []);

  function thrown(): unknown {
    try {
      return fail();
    } catch (error) {
      return error;
    }
  }
});

Deno.test("withPlugins() answers a plugin's or the handler's UnavailableError with 503", async () => {
  await silently(async () => {
    await assertUnavailable(await withPlugins([], fail).fetch(get()));
    const plugin = withPlugins([failing], () => new Response("never"));
    await assertUnavailable(await plugin.fetch(get()));
  });
});

Deno.test("toMiddleware() answers an UnavailableError of a plugin or of next() with 503", async () => {
  await assertUnavailable(
    await toMiddleware(failing)(get(), undefined, () => new Response("never")),
  );
  await assertUnavailable(await toMiddleware()(get(), undefined, fail));
});

Deno.test("toHono() answers an UnavailableError of a plugin or a handler with 503", async () => {
  await silently(async () => {
    const app = new Hono();
    app.use("/part", toHono(failing));
    app.get("/handler", toHono(), fail);
    app.get("/alone", fail);
    for (const path of ["/part", "/handler", "/alone"]) {
      await assertUnavailable(await app.request(path));
    }
  });
});

Deno.test("toHono() replaces only an error handler's 500 with the 503", async () => {
  for (const [status, isReplaced] of [[500, true], [502, false]] as const) {
    const app = new Hono();
    app.use(toHono());
    app.get("/", fail);
    app.onError((_error, c) => c.text("oops", status));
    const response = await app.request("/");
    if (isReplaced) await assertUnavailable(response);
    else assertEquals([response.status, await response.text()], [502, "oops"]);
  }
});

Deno.test("An UnavailableError has a retryAfter of 2 seconds by default, and accepts any number", () => {
  assertEquals(new UnavailableError("away").retryAfter, 2);
  const now = new UnavailableError("away", { retryAfter: 0 });
  assertEquals(now.toResponse().headers.get("retry-after"), "1");
  for (const retryAfter of [-1, NaN, Infinity, "1" as never]) {
    assertThrows(
      () => new UnavailableError("away", { retryAfter }),
      TypeError,
      "Cannot create UnavailableError: retryAfter must be a number of seconds, 0 or more",
    );
  }
});
