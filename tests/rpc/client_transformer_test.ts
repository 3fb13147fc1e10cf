import { assert, assertEquals, assertRejects } from "@std/assert";
import { createRouter, procedure } from "@quartet/kit/rpc";
import {
  batching,
  createClient,
  RPCClientError,
} from "@quartet/kit/rpc/client";
import * as devalue from "devalue";
import superjson from "superjson";
import { z } from "zod";
import { serveRouter } from "./helpers.ts";

const value = {
  at: new Date(0),
  ids: new Set([1n, 2n]),
  names: new Map([["a", undefined]]),
  none: NaN,
};

for (const [name, transformer] of Object.entries({ devalue, superjson })) {
  const api = createRouter({
    echo: procedure.query(z.any(), ({ input }) => input as unknown),
    keep: procedure.mutation(z.date(), ({ input }) => input),
    nothing: procedure.query(() => undefined),
    stream: procedure.subscription(
      z.bigint(),
      async function* ({ input }) {
        yield input;
        yield undefined;
        yield new Date(0);
      },
    ),
  }, { transformer });

  for (const batch of [false, true]) {
    Deno.test(`${name} carries values that JSON can't${batch ? ", in a batch" : ""}`, async () => {
      await using server = await serveRouter(api);
      const rpc = createClient<typeof api>({
        httpEndpoint: server.url,
        transformer,
        ...(batch ? { batch: batching } : {}),
      });
      assertEquals(await rpc.echo.query(value), value);
      assertEquals(await rpc.echo.query("x".repeat(5_000)), "x".repeat(5_000));
      assertEquals(await rpc.keep.mutate(new Date(5)), new Date(5));
      assertEquals(await rpc.nothing.query(), undefined);
      const streamed: unknown[] = [];
      for await (const item of rpc.stream.subscribe(7n)) streamed.push(item);
      assertEquals(streamed, [7n, undefined, new Date(0)]);
    });
  }
}

const dated = createRouter({
  now: procedure.query(() => new Date()),
}, { transformer: superjson });

Deno.test("A response that the client's transformer can't read is BAD_RESPONSE with the reason", async () => {
  for (const batch of [false, true]) {
    const answer = { ok: true, data: "{" };
    const rpc = createClient<typeof dated>({
      httpEndpoint: "http://localhost/api/rpc",
      transformer: superjson,
      fetch: () => Response.json(batch ? { ok: true, data: [answer] } : answer),
      ...(batch ? { batch: batching } : {}),
    });
    const error = await assertRejects(() => rpc.now.query(), RPCClientError);
    assertEquals([error.code, error.status], ["BAD_RESPONSE", 200]);
    assert(error.cause instanceof SyntaxError);
  }
});
