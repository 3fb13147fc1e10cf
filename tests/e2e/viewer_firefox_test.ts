import { generateViewerHTML } from "@quartet/kit/trace";
import { assertEquals } from "@std/assert";
import { headers } from "../../trace/http/viewer_page.ts";
import { until } from "./client_page.ts";

const FIREFOX = "firefox-esr";

const isInstalled = (Deno.env.get("PATH") ?? "").split(":").some((folder) => {
  try {
    return Deno.statSync(`${folder}/${FIREFOX}`).isFile;
  } catch {
    return false;
  }
});

Deno.test({
  name: "Firefox reports nothing against the policy of the viewer",
  ignore: !isInstalled,
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
    const profile = await Deno.makeTempDir();
    await using firefox = new Deno.Command(FIREFOX, {
      args: [
        ...["--headless", "--no-remote", "--profile", profile],
        `http://127.0.0.1:${server.addr.port}/`,
      ],
      stdout: "null",
      stderr: "null",
    }).spawn();
    try {
      await until("the page in Firefox", () => isLive);
      // Firefox looks for an icon after the page has loaded.
      await new Promise((resolve) => setTimeout(resolve, 2000));
      assertEquals(reports, []);
    } finally {
      firefox.kill();
      await firefox.status;
      await Deno.remove(profile, { recursive: true });
    }
  },
});
