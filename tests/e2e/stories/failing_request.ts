// The cart of a shop. Checking out fails deep below the request, because the
// region has no tax rate.

import { createApp } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { withSpan } from "@quartet/kit/trace";
import { z } from "zod";
import { scriptRoute, shopPage } from "./page.ts";

const RATES = new Map([["north", 0.2], ["south", 0.1]]);

function taxRate(region: string): number {
  return withSpan("tax rate", "custom", () => {
    const rate = RATES.get(region);
    if (rate === undefined) {
      throw new RangeError(`No tax rate for the region ${region}`);
    }
    return rate;
  });
}

function priceOf(region: string): number {
  return withSpan("price the cart", "custom", () => 30 * (1 + taxRate(region)));
}

const router = createRouter({
  cart: {
    count: procedure.query(() => 3),
    checkOut: procedure.mutation(
      z.object({ region: z.string() }),
      ({ input }) => withSpan("order", "custom", () => priceOf(input.region)),
    ),
  },
});

const SCRIPT = `
  import { createClient } from "@quartet/kit/rpc/client";
  const rpc = createClient({ httpEndpoint: "/api/rpc" });
  const output = document.querySelector("output");
  output.textContent = await rpc.cart.count.query() + " things";
  document.querySelector("button").onclick = () =>
    rpc.cart.checkOut.mutate({ region: "west" }).then(
      (price) => output.textContent = price + " €",
      () => output.textContent = "Something went wrong",
    );
`;

export default createApp({
  plugins: [rpcPlugin({ router })],
  routes: [
    await scriptRoute(SCRIPT),
    {
      path: "/cart",
      loader: () =>
        shopPage("Cart", "<output></output> <button>Check out</button>"),
    },
  ],
});
