import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { connect, connectRaw, frame, serveRouter } from "../../rpc/helpers.ts";
import type { Message } from "../../rpc/helpers.ts";
import { anyJSON, mostly, objectOf } from "../input/json.ts";
import { applyEdits, edits, mutated } from "../input/mutate.ts";
import { defineTarget } from "../target.ts";
import {
  checkFailure,
  createSubjectRouter,
  path,
  procedureInput,
} from "./rpc_router.ts";

const message = mutated(
  fc.oneof(
    { arbitrary: anyJSON, weight: 1 },
    {
      arbitrary: objectOf({
        type: mostly(
          fc.constantFrom("subscribe", "subscribe", "unsubscribe", "ping"),
        ),
        id: mostly(fc.constantFrom("1", "2", "__proto__", "constructor")),
        path: mostly(fc.constantFrom(["count"], ["forever"]), path),
        input: mostly(fc.nat(4), procedureInput),
        lastEventId: mostly(fc.constant("1")),
      }),
      weight: 8,
    },
  ).map((json) => JSON.stringify(json)),
);

const input = fc.record({
  messages: fc.array(message, { maxLength: 6 }),
  /** Changes to the bytes of frames, if any. */
  broken: fc.oneof(
    { arbitrary: fc.constant([]), weight: 3 },
    { arbitrary: edits, weight: 1 },
  ),
});

/** Messages on a socket, and the frames that carry them. */
export const rpcSocket = defineTarget(
  "rpc-socket",
  "anything sent on a socket is answered by messages, and the server goes on",
  input,
  async () => {
    const logged: unknown[] = [];
    const router = createSubjectRouter((error) => void logged.push(error));
    const server = await serveRouter(router);
    const other = await connect(server);
    return {
      async check({ messages, broken }) {
        const bytes = Uint8Array.from(
          messages.flatMap((text) => [...frame(text)]),
        );
        let way = "broken frames";
        using client = await connectRaw(server.port);
        if (broken.length === 0) {
          await client.send(bytes);
          await client.send({ type: "ping" });
          way = await readUntilPong(client.next, messages);
        } else {
          await client.send(breakBytes(bytes, broken));
          await client.connection.closeWrite().catch(() => {});
          while (await client.next() !== null);
        }
        assertEquals(await other.settle(), []);
        assertEquals(logged.splice(0), []);
        return way;
      },
      async [Symbol.asyncDispose]() {
        await other[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  },
);

/**
 * Reads until all pings are answered. Checks that the connection stays open and
 * all messages are valid.
 */
async function readUntilPong(
  next: () => Promise<Message | null>,
  messages: readonly string[],
): Promise<string> {
  let way = "only pongs";
  let pings = 1 + messages.filter(isPing).length;
  while (pings > 0) {
    const message = await next();
    assert(message !== null, "the connection stays open");
    const { type, id, error } = message;
    switch (type) {
      case "pong":
        pings--;
        break;
      case "error":
        if (way === "only pongs") way = "errors";
        assert(id === null || typeof id === "string");
        checkFailure(error);
        break;
      case "data":
      case "complete":
        way = "values";
        assertEquals(typeof id, "string");
        break;
      default:
        throw new Error(`A message of type ${type}`);
    }
  }
  return way;
}

function isPing(text: string): boolean {
  try {
    return JSON.parse(text).type === "ping";
  } catch {
    return false;
  }
}

/** Changes bytes as if each were a character. */
function breakBytes(
  bytes: Uint8Array,
  broken: Parameters<typeof applyEdits>[1],
): Uint8Array {
  const text = applyEdits(
    Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""),
    broken,
  );
  return Uint8Array.from(text, (char) => char.charCodeAt(0) & 255);
}
