import { createApp } from "@quartet/kit/app";
import {
  createChannel,
  createRouter,
  procedure,
  rpcPlugin,
} from "@quartet/kit/rpc";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { connect, subscribe } from "../rpc/helpers.ts";
import { shareBrowser } from "./browser.ts";
import {
  assertQuiet,
  openViewer,
  selectSpan,
  waitForText,
} from "./viewer_page.ts";

const browser = shareBrowser();

Deno.test("The viewer shows the messages of a running subscription as they are sent, and its end", async () => {
  const news = createChannel<string>();
  const router = createRouter({
    news: procedure.subscription(({ signal }) => news.subscribe(signal)),
  });
  const tracer = createTracer();
  await using app = createApp({
    trace: tracePlugin(tracer, { authorize: () => true }),
    plugins: [rpcPlugin({ router })],
  });
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen() {},
  });
  const origin = `http://127.0.0.1:${server.address.port}`;
  await using client = await connect({ url: `${origin}/api/rpc` });
  client.send(subscribe("a", "news", { room: "kitchen" }));
  await client.settle();

  const [trace] = tracer.getTraces();
  await using view = await openViewer(
    browser,
    `${origin}/__app/traces#trace=${trace!.id}`,
  );
  const { page } = view;
  await selectSpan(page, "rpc:news");
  await waitForText(page, "#details", "{ room: string }");
  for (const [count, bytes] of [[1, 74], [2, 148]]) {
    await news.publish("some news");
    await client.next();
    await waitForText(page, "#details", `Messages${count}${bytes} bytes`);
  }
  client.send({ type: "unsubscribe", id: "a" });
  await waitForText(page, "#details", "unsubscribed");
  await assertQuiet(view);
});
