import { assertEquals, assertMatch } from "@std/assert";
import { startBrowser } from "./browser.ts";
import { until } from "./client_page.ts";

Deno.test("A page of the test browser", async (t) => {
  await using browser = await startBrowser();
  await t.step("has a version", () => {
    assertMatch(browser.version, /^\d+\./);
  });
  await t.step("records errors and requests to other hosts", async () => {
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      () =>
        new Response(
          `<!DOCTYPE html><link rel="icon" href="data:,"><script>
            console.error("on the console");
            setTimeout(() => { throw new Error("uncaught") });
            new Image().src = "http://elsewhere.invalid/pixel.png";
          </script>`,
          { headers: { "content-type": "text/html" } },
        ),
    );
    await using view = await browser.newPage();
    await view.page.goto(`http://127.0.0.1:${server.addr.port}/`);
    await until(
      "both errors and the request",
      () =>
        view.errors.some((text) => text.includes("uncaught")) &&
        view.foreignRequests.length > 0,
    );
    assertEquals(view.errors[0], "on the console");
    assertEquals(view.foreignRequests, ["http://elsewhere.invalid/pixel.png"]);
  });
});
