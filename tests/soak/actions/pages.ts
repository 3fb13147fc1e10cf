/** Requests for pages, and for the API behind them. */

import { equal, expect, holds } from "../expect.ts";
import { borrow, CODES } from "../world.ts";
import type { World } from "../world.ts";
import { KEPT_PATH } from "../watched_atlas.ts";
import type { Action } from "./action.ts";

// Parts of country names. The admin edits capitals, so searching those isn't
// stable.
const TEXTS = ["land", "a", "stan", "guinea", "nowhere at all", "%", "é"];

const page: Action = {
  name: "page",
  weight: 20,
  async run(world) {
    const { random, people } = world;
    // Now and then without signing in.
    const opened = !random.chance(0.3) &&
      await borrow(world, people, async ({ visitor }) => {
        const { status, text } = await visitor.open("/account");
        expect(status, 200, "account");
        holds(
          text.includes("(this browser)"),
          "the account lists this session",
        );
        await openSome(world, (path) => visitor.open(path));
      });
    if (opened) return;
    await openSome(world, async (path) => {
      const response = await world.traffic.send(world.origin + path);
      return { status: response.status, text: await response.text() };
    });
  },
};

async function openSome(
  { random }: World,
  open: (path: string) => Promise<{ status: number; text: string }>,
): Promise<void> {
  const list = await open(`/?q=${encodeURIComponent(random.pick(TEXTS))}`);
  expect(list.status, 200, "list");
  const code = random.pick(CODES);
  const country = await open(`/countries/${code}`);
  expect(country.status, 200, code);
  holds(
    country.text.includes("<dt>Capital</dt>"),
    `the page of ${code} shows its capital`,
  );
  expect((await open("/countries/ZZZ")).status, 404, "no country");
}

const search: Action = {
  name: "search",
  weight: 20,
  async run({ origin, traffic, random }) {
    const text = random.pick(TEXTS);
    const query = encodeURIComponent(text);
    const path = random.chance(0.5)
      ? `/api/countries?q=${query}`
      : `/api/rpc?path=countries.search&input=${
        encodeURIComponent(JSON.stringify({ query: text }))
      }`;
    const response = await traffic.send(origin + path);
    expect(response.status, 200, path);
    const body = await response.json();
    const found: { name: string }[] = body.data ?? body;
    holds(Array.isArray(found), `${path} returns a list`);
    const isNone = text === "%" || text === "nowhere at all";
    equal(found.length === 0, isNone, `whether "${text}" finds nothing`);
  },
};

const conditional: Action = {
  name: "conditional",
  weight: 8,
  async run({ origin, traffic }) {
    const first = await traffic.send(origin + KEPT_PATH);
    expect(first.status, 200, "kept page");
    equal(
      (await first.json()).length,
      CODES.length,
      "countries in the cached page",
    );
    const etag = first.headers.get("etag")!;
    const ask = (etag: string) =>
      traffic.send(origin + KEPT_PATH, { headers: { "if-none-match": etag } });
    expect((await ask(etag)).status, 304, "the same page");
    expect((await ask('"another"')).status, 200, "another page");
  },
};

const files: Action = {
  name: "files",
  weight: 4,
  async run({ origin, traffic, random }) {
    const path = random.pick([
      "/style.css",
      "/script.js",
      "/api/openapi.json",
    ]);
    const response = await traffic.send(origin + path);
    expect(response.status, 200, path);
    holds((await response.text()).length > 100, `${path} is not empty`);
  },
};

/** Actions that need no account. */
export const PAGES: readonly Action[] = [page, search, conditional, files];
