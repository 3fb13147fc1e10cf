/** Short-lived sockets, and readers of traces. */

import { connect, subscribe } from "../../rpc/helpers.ts";
import { codesOf } from "../people.ts";
import { equal, expect, holds } from "../expect.ts";
import { borrow } from "../world.ts";
import { toggle } from "./accounts.ts";
import type { Action } from "./action.ts";

const live: Action = {
  name: "live",
  weight: 8,
  run: (world) =>
    borrow(world, world.people, async (person) => {
      const { traffic, random, origin } = world;
      await using socket = await connect({
        url: `${origin}/api/rpc`,
        headers: { cookie: person.visitor.cookie },
      });
      const check = async (what: string) => {
        const { type, data = [] } = await traffic.time(() => socket.next());
        equal(type, "data", what);
        equal(codesOf(data), [...person.favourites].sort(), what);
      };
      socket.send(subscribe("1", "favourites.live"));
      await check("the first live favourites");
      for (let changes = random.below(4); changes > 0; changes--) {
        await toggle(world, person);
        await check("live favourites after a change");
      }
      // Some clients only close the socket, without unsubscribing.
      if (random.chance(0.5)) {
        socket.send({ type: "unsubscribe", id: "1" });
        equal(await socket.settle(), [], "messages after unsubscribing");
      }
    }),
};

const traces: Action = {
  name: "traces",
  weight: 4,
  async run({ origin, traffic, random }) {
    const api = `${origin}/__app/traces/api`;
    const query = random.pick([
      "limit=5",
      "limit=10&layer=rpc",
      "limit=10&status=4xx",
      "limit=3&path=/countries/",
    ]);
    const response = await traffic.send(`${api}?${query}`);
    expect(response.status, 200, query);
    const { traces, total } = await response.json();
    holds(total <= 200, `at most 200 traces are stored, found ${total}`);
    if (traces.length > 0) {
      // It may have been evicted in the meantime.
      const one = await traffic.send(`${api}?id=${traces[0].id}`);
      expect(one.status, [200, 404], "one trace");
    }
    const viewer = await traffic.send(`${origin}/__app/traces`);
    expect(viewer.status, 200, "viewer");
  },
};

const watch: Action = {
  name: "viewer",
  weight: 2,
  async run({ origin, traffic, random }) {
    await using socket = await connect({ url: `${origin}/__app/traces/ws` });
    const first = await traffic.time(() => socket.next());
    equal(first.type, "initial", "the first message of the live stream");
    const path = `/countries/${random.hex(8)}`;
    expect((await traffic.send(origin + path)).status, 404, path);
    for (;;) {
      const message: unknown = await socket.next();
      const { type, trace } = message as {
        type: string;
        trace?: { metadata: { pathname: string } };
      };
      if (type === "trace:end" && trace!.metadata.pathname === path) break;
    }
  },
};

/** Actions on sockets, and those that read traces. */
export const SOCKETS: readonly Action[] = [live, traces, watch];
