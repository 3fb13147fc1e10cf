import { assertEquals, assertMatch } from "@std/assert";
import { createViewerHandler } from "@quartet/kit/trace";

const ADDRESS = "http://localhost/__app/traces";

Deno.test("createViewerHandler() returns the page for GET, its headers for HEAD, and rejects other methods", async () => {
  const handler = createViewerHandler({ authorize: () => true });
  const ask = (method: string) => handler(new Request(ADDRESS, { method }));
  const page = await ask("GET");
  assertEquals(page.status, 200);
  assertMatch(await page.text(), /^<!DOCTYPE html>/);
  const head = await ask("HEAD");
  assertEquals([head.status, await head.text()], [200, ""]);
  assertEquals([...head.headers], [...page.headers]);
  assertEquals(head.headers.get("cache-control"), "no-store");
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
    const refused = await ask(method);
    assertEquals([refused.status, refused.headers.get("allow")], [
      405,
      "GET, HEAD",
    ]);
    assertEquals((await refused.json()).error, {
      code: "METHOD_NOT_ALLOWED",
      message: `The viewer allows GET and HEAD, not ${method}`,
    });
  }
});

Deno.test("createViewerHandler() checks access before anything else", async () => {
  const handler = createViewerHandler({ authorize: () => false });
  for (const method of ["GET", "HEAD", "POST"]) {
    const { status } = await handler(new Request(ADDRESS, { method }));
    assertEquals(status, 403);
  }
});
