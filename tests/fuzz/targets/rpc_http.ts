import * as devalue from "devalue";
import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import superjson from "superjson";
import type { Transformer } from "@quartet/kit/rpc";
import { mostly, objectOf } from "../input/json.ts";
import type { JSONValue } from "../input/json.ts";
import { mutated, piece } from "../input/mutate.ts";
import { asHeader, requestOf } from "../input/request.ts";
import { defineTarget } from "../target.ts";
import {
  call,
  checkEnvelope,
  createSubjectRouter,
  procedureInput,
} from "./rpc_router.ts";

const TRANSFORMERS: Readonly<Record<string, Transformer | undefined>> = {
  none: undefined,
  devalue,
  superjson,
};

const text = (json: unknown) => JSON.stringify(json);

/** An input as a transformer writes it, or without one. */
function inputFor(name: string): fc.Arbitrary<JSONValue> {
  const transformer = TRANSFORMERS[name];
  if (transformer === undefined) return procedureInput;
  return mutated(procedureInput.map((value) => {
    try {
      return transformer.stringify(value);
    } catch {
      // Of some names there is none who writes them.
      return text(value);
    }
  }));
}

const METHODS = ["POST", ...Array(9).fill("GET"), "HEAD", "DELETE"];
const TYPES = ["application/json", "application/json; charset=utf-8"];

const input = fc.constantFrom(...Object.keys(TRANSFORMERS)).chain((name) => {
  const value = inputFor(name);
  const one = call(value);
  const many = objectOf({
    batch: mostly<JSONValue>(fc.array(one, { maxLength: 60 })),
  });
  return fc.record({
    transformer: fc.constant(name),
    request: fc.oneof(
      fc.record({
        method: fc.constantFrom(...Array(12).fill("POST"), "PUT"),
        type: fc.oneof(
          { arbitrary: fc.constantFrom(...TYPES), weight: 12 },
          { arbitrary: fc.oneof(fc.constant(""), piece), weight: 1 },
        ),
        body: mutated(fc.oneof(one, many).map(text)),
      }),
      fc.record({
        method: fc.constantFrom(...METHODS),
        query: mutated(
          fc.tuple(
            fc.constantFrom("ping", "echo", "nested.add", "count", "__proto__"),
            value,
          ).map(([path, value]) => {
            const input = typeof value === "string" ? value : text(value);
            return `path=${path}&input=${
              encodeURIComponent(input.toWellFormed())
            }`;
          }),
        ),
      }),
    ),
  });
});

/** Calls over HTTP. */
export const rpcHTTP = defineTarget(
  "rpc-http",
  "whatever is sent to a router is answered by an envelope, is nobody's fault but the sender's, and leaves it as it was",
  input,
  () => {
    const logged: unknown[] = [];
    const routers = new Map(
      Object.entries(TRANSFORMERS).map(([name, transformer]) => [
        name,
        createSubjectRouter((error) => void logged.push(error), transformer),
      ]),
    );
    return {
      async check({ transformer, request }) {
        const { handler } = routers.get(transformer)!;
        const sent = "body" in request
          ? requestOf("/api/rpc", {
            method: request.method,
            headers: { "content-type": asHeader(request.type) },
            body: request.body,
          })
          : requestOf(`/api/rpc?${request.query}`, { method: request.method });
        if (sent === undefined) return "not sent";
        const response = await handler(sent);
        const answer = await response.text();
        assertEquals(logged.splice(0), [], answer);
        assert(response.status < 500, `${response.status} ${answer}`);
        let way = "nothing";
        if (request.method === "HEAD") assertEquals(answer, "");
        else {
          const envelope = JSON.parse(answer);
          way = envelope.error?.code ?? "ok";
          checkEnvelope(envelope);
          assertEquals(response.ok, envelope.ok);
          // The answers of a batch have a status each.
          for (const one of isBatch(request) ? envelope.data ?? [] : []) {
            const { status: _, ...rest } = one;
            checkEnvelope(rest);
          }
        }
        const good = await handler(requestOf("/api/rpc?path=ping")!);
        const { ok, data } = await good.json();
        assertEquals([ok, data], [
          true,
          transformer === "none"
            ? "pong"
            : TRANSFORMERS[transformer]!.stringify("pong"),
        ]);
        return way;
      },
    };
  },
);

function isBatch(request: object): boolean {
  try {
    return "body" in request && "batch" in JSON.parse(`${request.body}`);
  } catch {
    return false;
  }
}
