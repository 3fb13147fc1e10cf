import { assertEquals, assertThrows } from "@std/assert";
import {
  type Context,
  createApp,
  currentContext,
  observe,
} from "@quartet/kit/app";
import {
  createCaller,
  createRouter,
  procedure,
  rpcPlugin,
} from "@quartet/kit/rpc";
import { createAuthPlugin, credentials, getAuth } from "@quartet/kit/auth";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { SECRET } from "../auth/harness.ts";
import { connect, postOf, queryOf, subscribe } from "./helpers.ts";

/** A middleware's queue: each call continues the one that waits. */
function createQueue() {
  let resume: (() => void) | undefined;
  let calls = 0;
  function wait<T>(run: () => Promise<T>): Promise<T> {
    calls++;
    resume?.();
    return new Promise((resolve, reject) => {
      resume = () => run().then(resolve, reject);
    });
  }
  const waiting = procedure.use(({ next }) => wait(() => next()));
  return {
    waiting,
    resume: () => resume!(),
    async reaches(count: number): Promise<void> {
      while (calls < count) await pause();
    },
  };
}

const pause = () => new Promise((resolve) => setTimeout(resolve));

const url = () => (currentContext() as Context).request.url;

Deno.test("A call that waits in a middleware's queue keeps its request", async () => {
  const { waiting, resume } = createQueue();
  const router = createRouter({ url: waiting.query(url) });
  const app = createApp({ plugins: [rpcPlugin({ router })] });
  const urls = ["a", "b", "c"].map((name) =>
    `http://localhost/api/rpc${queryOf("url")}&${name}`
  );
  const responses: Promise<Response>[] = [];
  for (const url of urls) {
    responses.push(app.fetch(new Request(url)));
    await pause();
  }
  // The last one continues outside any request.
  resume();
  for (const [i, url] of urls.entries()) {
    assertEquals((await (await responses[i]!).json()).data, url);
  }
  await app.close();
});

Deno.test("A caller outside any request stays there if a request continues its call", async () => {
  const { waiting, resume } = createQueue();
  const router = createRouter({
    outside: waiting.query(() => {
      assertThrows(currentContext, TypeError);
    }),
  });
  const calling = createCaller(router).outside.query();
  await pause();
  const app = createApp({
    routes: [{
      path: "/",
      loader() {
        resume();
        return null;
      },
    }],
  });
  await (await app.fetch(new Request("http://localhost/"))).body?.cancel();
  await calling;
  await app.close();
});

Deno.test("A call of a batch that waits in a middleware's queue keeps its span", async () => {
  const { waiting, resume, reaches } = createQueue();
  const read = (name: string) =>
    waiting.query(() => observe(`inside ${name}`, "custom", () => name));
  const router = createRouter({ a: read("a"), b: read("b") });
  const tracer = createTracer();
  const app = createApp({
    trace: tracePlugin(tracer, { authorize: () => false }),
    plugins: [rpcPlugin({ router })],
  });
  const batch = ["a", "b"].map((name) => ({ path: [name], type: "query" }));
  const request = new Request("http://localhost/api/rpc", postOf({ batch }));
  const answering = app.fetch(request);
  await reaches(2);
  resume();
  await (await answering).body?.cancel();
  const spans = [...tracer.getTraces()[0]!.spans.values()];
  const parents = spans.filter(({ name }) => name.startsWith("inside"))
    .map(({ name, parentId }) => [
      name,
      spans.find(({ id }) => id === parentId)?.name,
    ]);
  assertEquals(parents, [["inside a", "rpc:a"], ["inside b", "rpc:b"]]);
  await app.close();
});

Deno.test("A subscription that waits in a middleware's queue ends with the session that it reads", async () => {
  const { waiting, resume, reaches } = createQueue();
  const signedIn = waiting.use(({ ctx, next }) =>
    next({ user: getAuth(ctx).getUser() })
  );
  const router = createRouter({
    mine: signedIn.subscription(async function* ({ user, signal }) {
      yield user?.id;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    }),
    clock: waiting.subscription(async function* ({ signal }) {
      yield "tick";
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    }),
  });
  const app = createApp({
    plugins: [
      createAuthPlugin({
        session: { secret: SECRET, strategy: "cookie" },
        providers: [
          credentials({ authorize: () => Promise.resolve({ id: "ada" }) }),
        ],
      }),
      rpcPlugin({ router }),
    ],
    routes: [
      {
        path: "/in",
        action: async ({ context }) => {
          await getAuth(context).signIn("credentials", {});
          return null;
        },
      },
      {
        path: "/out",
        action: ({ context }) => getAuth(context).signOut(),
      },
    ],
  });
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen() {},
  });
  const origin = `http://127.0.0.1:${server.address.port}`;
  const post = async (path: string, headers: HeadersInit = {}) => {
    const response = await fetch(origin + path, { method: "POST", headers });
    await response.body?.cancel();
    return response;
  };
  const [set] = (await post("/in")).headers.getSetCookie();
  const cookie = set!.split(";")[0]!;
  await using client = await connect({
    url: `${origin}/api/rpc`,
    headers: { cookie },
  });
  client.send(subscribe("mine", "mine"));
  await reaches(1);
  client.send(subscribe("clock", "clock"));
  assertEquals((await client.next()).data, "ada");
  resume();
  assertEquals((await client.next()).data, "tick");
  await post("/out", { cookie });
  const { type, id } = await client.next();
  assertEquals([type, id], ["error", "mine"]);
  client.send({ type: "ping" });
  assertEquals((await client.next()).type, "pong");
});
