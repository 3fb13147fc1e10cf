import * as devalue from "devalue";
import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import superjson from "superjson";
import { createApp } from "@quartet/kit/app";
import { rpcPlugin } from "@quartet/kit/rpc";
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
import { pathOf } from "../../../core/http/message.ts";

const TRANSFORMERS: Readonly<Record<string, Transformer | undefined>> = {
  none: undefined,
  devalue,
  superjson,
};

const text = (json: unknown) => JSON.stringify(json);

/** An input as a transformer writes it, or as JSON. */
function inputFor(name: string): fc.Arbitrary<JSONValue> {
  const transformer = TRANSFORMERS[name];
  if (transformer === undefined) return procedureInput;
  return mutated(procedureInput.map((value) => {
    try {
      return transformer.stringify(value);
    } catch {
      // Some values can't be written by the transformer.
      return text(value);
    }
  }));
}

const names = fc.constantFrom(
  ...["ping", "echo", "merge", "nested.add", "count", "__proto__"],
);

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
    /** The procedure named in the path, if any. */
    named: fc.oneof(
      { arbitrary: fc.constant(undefined), weight: 4 },
      { arbitrary: mutated(names), weight: 1 },
    ),
    request: fc.oneof(
      fc.record({
        method: fc.constantFrom(...Array(12).fill("POST"), "PUT"),
        type: fc.oneof(
          { arbitrary: fc.constantFrom(...TYPES), weight: 12 },
          { arbitrary: fc.oneof(fc.constant(""), piece), weight: 1 },
        ),
        body: mutated(fc.oneof(one, many, value).map(text)),
      }),
      fc.record({
        method: fc.constantFrom(...METHODS),
        query: mutated(
          fc.tuple(
            names,
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

export const rpcHTTP = defineTarget(
  "rpc-http",
  "any request to a router is answered by an envelope, without a server error or a lasting change",
  input,
  () => {
    const logged: unknown[] = [];
    const onError = (error: unknown) => void logged.push(error);
    const apps = new Map(
      Object.entries(TRANSFORMERS).map(([name, transformer]) => {
        const router = createSubjectRouter(onError, transformer);
        const plugins = [rpcPlugin({ router })];
        return [name, createApp({ plugins, onError })];
      }),
    );
    return {
      async check({ transformer, named, request }) {
        const app = apps.get(transformer)!;
        const path = `/api/rpc${named === undefined ? "" : `/${named}`}`;
        const sent = "body" in request
          ? requestOf(path, {
            method: request.method,
            headers: { "content-type": asHeader(request.type) },
            body: request.body,
          })
          : requestOf(`${path}?${request.query}`, { method: request.method });
        if (sent === undefined) return "not sent";
        const response = await app.fetch(sent);
        const answer = await response.text();
        assertEquals(logged.splice(0), [], answer);
        assert(response.status < 500, `${response.status} ${answer}`);
        let way = "nothing";
        if (!/^\/api\/rpc($|\/)/.test(pathOf(sent.url))) way = "elsewhere";
        else if (request.method === "HEAD") assertEquals(answer, "");
        else {
          const envelope = JSON.parse(answer);
          way = envelope.error?.code ?? "ok";
          checkEnvelope(envelope);
          assertEquals(response.ok, envelope.ok);
          // Each answer in a batch has its own status.
          const isOne = named !== undefined || !isBatch(request);
          for (const one of isOne ? [] : envelope.data ?? []) {
            const { status: _, ...rest } = one;
            checkEnvelope(rest);
          }
        }
        const good = await app.fetch(requestOf("/api/rpc?path=ping")!);
        const { ok, data } = await good.json();
        assertEquals([ok, data], [
          true,
          transformer === "none"
            ? "pong"
            : TRANSFORMERS[transformer]!.stringify("pong"),
        ]);
        return way;
      },
      async [Symbol.asyncDispose]() {
        await Promise.all(apps.values().map((app) => app.close()));
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
