/** The queries of Atlas's pages and procedures, and the values from its cache. */

import { assertEquals } from "@std/assert";
import { expectTrace, recordTrace } from "@quartet/kit/trace/testing";
import { createAtlas } from "../../examples/atlas/atlas.ts";
import { createVisitor, emailOf, PASSWORD } from "./serve_atlas.ts";

/** Starts Atlas without a port, with a user who has two favourites. */
async function atlas() {
  const app = createAtlas({ database: ":memory:" });
  const ada = createVisitor(
    "http://localhost",
    (input, init) => Promise.resolve(app.fetch(new Request(input, init))),
  );
  await ada.submit("/sign-up", {
    name: "Ada",
    email: emailOf("Ada"),
    password: PASSWORD,
  });
  for (const code of ["CHE", "FRA"]) {
    await ada.rpc.favourites.add.mutate({ code });
  }
  return { ...ada, [Symbol.asyncDispose]: () => app.close() };
}

Deno.test("Each page of Atlas runs a fixed number of queries, and none again", async () => {
  await using ada = await atlas();
  for (
    const [path, count] of [
      ["/", 2],
      ["/?q=land", 2],
      ["/countries/CHE", 3],
      ["/api/countries", 1],
      ["/account", 0],
    ] as const
  ) {
    const { trace, result } = await recordTrace(() => ada.open(path));
    assertEquals(result.status, 200, path);
    expectTrace(trace).noErrors().queries({ exactly: count, repeated: 0 });
  }
});

Deno.test("The second visitor of a country reads it from the cache", async () => {
  await using ada = await atlas();
  const visit = () => recordTrace(() => ada.open("/countries/CHE"));
  const first = await visit();
  expectTrace(first.trace).cache({ misses: 1 }).queries({ exactly: 3 });
  const second = await visit();
  // The favourites belong to the user.
  expectTrace(second.trace).cache({ hits: 1, misses: 0 })
    .queries({ exactly: 1 });
});

Deno.test("Each procedure of Atlas runs at most two queries", async () => {
  await using ada = await atlas();
  const calls = {
    "rpc:countries.search": () => ada.rpc.countries.search.query({}),
    "rpc:countries.byCode": () =>
      ada.rpc.countries.byCode.query({ code: "CHE" }),
    "rpc:favourites.list": () => ada.rpc.favourites.list.query(),
    "rpc:favourites.add": () => ada.rpc.favourites.add.mutate({ code: "FIN" }),
    "rpc:favourites.remove": () =>
      ada.rpc.favourites.remove.mutate({ code: "FIN" }),
  };
  for (const [name, call] of Object.entries(calls)) {
    const { trace } = await recordTrace<Promise<unknown>>(call);
    expectTrace(trace).noErrors().span(name, { exactly: 1 })
      .queries({ max: 2, repeated: 0 });
  }
});
