import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { Context, createApp } from "@quartet/kit/app";

Deno.test("Context stores values by key", () => {
  const context = new Context(new Request("http://localhost/"));
  assertStrictEquals(context.get("user"), undefined);
  const user = { name: "ada" };
  context.set("user", user);
  context.set("nothing", null);
  assertStrictEquals(context.get("user"), user);
  assertStrictEquals(context.get("nothing"), null);
  context.set("user", "grace");
  assertStrictEquals(context.get("user"), "grace");
});

Deno.test("Context accepts names of Object.prototype's properties as keys", () => {
  const context = new Context(new Request("http://localhost/"));
  for (const key of ["__proto__", "constructor", "toString"]) {
    assertStrictEquals(context.get(key), undefined);
    context.set(key, 1);
    assertStrictEquals(context.get(key), 1);
  }
});

Deno.test("Context keeps the values of requests apart", () => {
  const [a, b] = ["a", "b"].map(() =>
    new Context(new Request("http://localhost/"))
  );
  a!.set("user", "ada");
  assertStrictEquals(b!.get("user"), undefined);
});

Deno.test("Context.url returns the same parsed URL each time", () => {
  const context = new Context(new Request("http://localhost/a?b=1"));
  assertEquals(context.url.pathname, "/a");
  assertEquals(context.url.searchParams.get("b"), "1");
  assertStrictEquals(context.url, context.url);
});

Deno.test("Context.params is empty before a route matches, and read-only", () => {
  const { params } = new Context(new Request("http://localhost/"));
  assertEquals(params, {});
  assertThrows(
    () => (params as Record<string, string>).name = "ada",
    TypeError,
  );
});

Deno.test("Middlewares, auth rules and handlers of a request share one Context", async () => {
  const seen: unknown[] = [];
  const app = createApp({
    routes: [{
      path: "/:name",
      loader({ context, params, request }) {
        seen.push(context, context.get("user"), params.name);
        return request.url;
      },
      config: {
        auth: {
          required: true,
          check(_request, context) {
            seen.push(context);
            return undefined;
          },
        },
      },
    }],
  });
  app.use((_request, context, next) => {
    seen.push(context);
    context.set("user", "ada");
    return next();
  });
  await app.fetch(new Request("http://localhost/x"));
  const [first, second, third, user, name] = seen;
  assertStrictEquals(first, second);
  assertStrictEquals(first, third);
  assertEquals([user, name], ["ada", "x"]);
});
