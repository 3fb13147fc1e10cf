import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { createRouter, procedure } from "@quartet/kit/rpc";
import {
  batching,
  createClient,
  RPCClientError,
} from "@quartet/kit/rpc/client";
import { anyJSON, mostly, objectOf } from "../input/json.ts";
import type { JSONValue } from "../input/json.ts";
import { mutated } from "../input/mutate.ts";
import { defineTarget } from "../target.ts";

const router = createRouter({ ping: procedure.query(() => "pong") });

const envelope = objectOf({
  ok: mostly(fc.boolean()),
  data: anyJSON,
  error: objectOf({
    // A code that isn't text is passed on unchanged.
    code: fc.constantFrom("NOT_FOUND", 404, null),
    message: mostly(fc.constant("Not found")),
    details: anyJSON,
  }),
});

const input = fc.record({
  body: mutated(
    mostly<JSONValue>(
      envelope,
      objectOf({
        ok: mostly(fc.constant(true)),
        data: mostly<JSONValue>(fc.array(envelope, { maxLength: 3 })),
      }),
    ).map((json) => JSON.stringify(json)),
  ),
  status: fc.constantFrom(200, 200, 404, 500, 599),
  batch: fc.boolean(),
});

/** Responses to the client from any server. */
export const rpcClient = defineTarget(
  "rpc-client",
  "for any response, the client's caller gets a value or one kind of error",
  input,
  () => ({
    async check({ body, status, batch }) {
      const rpc = createClient<typeof router>({
        httpEndpoint: "http://localhost/api/rpc",
        fetch: () => new Response(body, { status }),
        ...batch && { batch: batching },
      });
      const results = await Promise.allSettled([
        rpc.ping.query(),
        rpc.ping.query(),
      ]);
      for (const result of results) {
        if (result.status === "fulfilled") continue;
        const error = result.reason;
        assert(error instanceof RPCClientError, `${error}`);
        assertEquals([error.name, error.path], ["RPCClientError", "ping"]);
        assert(error.stack!.includes("Error"));
      }
      return results.map(({ status }) => status).join(" and ");
    },
  }),
);
