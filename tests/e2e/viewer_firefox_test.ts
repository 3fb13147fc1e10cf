import { generateViewerHTML } from "@quartet/kit/trace";
import { assertEquals } from "@std/assert";
import { headers } from "../../trace/http/viewer_page.ts";
import { until } from "./client_page.ts";
import { hasFirefox, openFirefox } from "./firefox.ts";

Deno.test({
  name: "Firefox reports nothing against the policy of the viewer",
  ignore: !hasFirefox,
  async fn() {
    const page = await generateViewerHTML();
    const policy = `${headers["content-security-policy"]}; report-uri /report`;
    const reports: string[] = [];
    let isLive = false;
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/report") reports.push(await request.text());
        // The page listens for traces once it is drawn.
        if (pathname === "/ws") isLive = true;
        return pathname === "/"
          ? new Response(page, {
            headers: { ...headers, "content-security-policy": policy },
          })
          : new Response(null, { status: 404 });
      },
    );
    await using _firefox = await openFirefox(
      `http://127.0.0.1:${server.addr.port}/`,
    );
    await until("the page in Firefox", () => isLive);
    // Firefox looks for an icon after the page has loaded.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    assertEquals(reports, []);
  },
});
