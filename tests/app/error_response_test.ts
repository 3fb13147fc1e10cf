import { assertEquals } from "@std/assert";
import { errorResponse } from "@quartet/kit/app";

Deno.test("errorResponse() returns the kit's JSON shape with status and headers", async () => {
  const response = errorResponse(405, "METHOD_NOT_ALLOWED", "No", {
    allow: "GET",
  });
  assertEquals(response.status, 405);
  assertEquals(response.headers.get("allow"), "GET");
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(await response.json(), {
    error: { code: "METHOD_NOT_ALLOWED", message: "No" },
  });
});
