// The front page of a shop, with twelve tiles that load in parallel. Two of them
// ask a supplier, one at a time. The first call opens the connection, so the
// other tile waits long for the lock.

import { createApp } from "@quartet/kit/app";
import { withSpan } from "@quartet/kit/trace";
import { scriptRoute, shopPage } from "./page.ts";

const ASKING = ["offers", "stock"];
const TILES = [
  ...ASKING,
  ...Array.from({ length: 10 }, (_, i) => `shelf-${i + 1}`),
];

/**
 * The planted causes. The first one is long compared with the whole page. The other
 * one is the time between the two tiles, so that a busy browser doesn't swap them.
 */
const CONNECT_TIME = 1_500;
const CALL_TIME = 200;

const pause = (ms: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, ms));

let connection: Promise<void> | undefined;
let lock = Promise.resolve();
let holder = "none";

/** Asks the supplier while no other tile does. */
async function askSupplier(tile: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const before = lock;
  lock = promise;
  await withSpan("wait for the supplier's lock", "custom", async (span) => {
    span.setAttribute("lock.holder", holder);
    await before;
  });
  holder = tile;
  await (connection ??= withSpan(
    "connect to the supplier",
    "custom",
    () => pause(CONNECT_TIME),
  ));
  await withSpan("ask the supplier", "custom", () => pause(CALL_TIME));
  resolve();
}

const SCRIPT = `
  await Promise.all(${JSON.stringify(TILES)}.map(async (tile) => {
    const response = await fetch("/tiles/" + tile);
    const item = document.createElement("li");
    item.textContent = (await response.json()).tile;
    document.querySelector("ul").append(item);
  }));
`;

export default createApp({
  routes: [
    await scriptRoute(SCRIPT),
    { path: "/", loader: () => shopPage("Shop", "<ul></ul>") },
    {
      path: "/tiles/:tile",
      async loader({ params: { tile = "" } }) {
        if (ASKING.includes(tile)) await askSupplier(tile);
        return { tile };
      },
    },
  ],
});
