// Live prices of a shop. The second subscription fails, and the page subscribes
// again. The story's proxy breaks the socket of the first one.

import { createApp } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { scriptRoute, shopPage } from "./page.ts";

let subscriptions = 0;

const router = createRouter({
  prices: procedure.subscription(async function* ({ signal }) {
    const number = ++subscriptions;
    yield `price ${number}`;
    if (number === 2) throw new Error("The price feed has lost its licence");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  }),
});

const SCRIPT = `
  import { createClient } from "@quartet/kit/rpc/client";
  const rpc = createClient({ httpEndpoint: "/api/rpc" });
  const output = document.querySelector("output");
  const watch = () =>
    rpc.prices.subscribe(undefined, {
      onData: (price) => output.textContent = price,
      onError: () => setTimeout(watch, 100),
    });
  watch();
`;

export default createApp({
  plugins: [rpcPlugin({ router })],
  routes: [
    await scriptRoute(SCRIPT),
    {
      path: "/prices",
      loader: () => shopPage("Prices", "<output></output>"),
    },
  ],
});
