import { DatabaseSync } from "node:sqlite";
import { createApp } from "@quartet/kit/app";
import { createAuthPlugin, credentials, requireAuth } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import {
  tracedAdapter,
  tracePlugin,
  type Tracer,
  withSpan,
} from "@quartet/kit/trace";
import { z } from "zod";

/** Creates an app that uses all four modules. */
export function createShop(tracer: Tracer) {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [
      credentials({ authorize: ({ name }) => ({ id: "1", name: `${name}` }) }),
    ],
  });
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE item (name TEXT)");
  database.exec("INSERT INTO item VALUES ('tea'), ('コーヒー')");
  const traced = tracedAdapter(database, { system: "sqlite" });
  const cache = createCache();
  const router = createRouter({
    items: procedure.query(
      z.object({ limit: z.number() }),
      ({ input }) =>
        cache.cached(
          "items",
          () =>
            traced.prepare("SELECT name FROM item LIMIT ?").all(input.limit),
          {
            maxAge: 60,
          },
        ),
    ),
    broken: procedure.query(() => {
      throw new RangeError("out of tea 🍵");
    }),
  });
  const app = createApp({
    trace: tracePlugin(tracer),
    plugins: [auth, rpcPlugin({ router })],
    routes: [
      {
        path: "/sign-in",
        action: async ({ context }) => {
          await auth.getAuth(context).signIn("credentials", { name: "Zoë" });
        },
      },
      {
        path: "/values",
        config: { ...requireAuth() },
        loader: () =>
          withSpan("日本 \ud83d ✓", "custom", (span) => {
            span.setAttribute("text", "Ünïcode \u0000 \ud800 🇫🇷");
            span.setAttribute("int", 2 ** 53);
            span.setAttribute("negative", -7);
            span.setAttribute("double", 0.5);
            span.setAttribute("large", 1e300);
            span.setAttribute("no", false);
            span.setAttribute("nan", NaN);
            span.setAttribute("list", [1, "a"] as unknown as string);
            span.event("noted", { "count": 3, "ratio": 0.25, "ok": true });
            for (let i = 0; i < 80; i++) span.setAttribute(`more.${i}`, i);
            for (let i = 0; i < 150; i++) span.event(`event ${i}`);
            return 1;
          }),
      },
      {
        path: "/many",
        loader: () => {
          const active = tracer.activeSpan()!;
          // Never ended.
          active.child("forgotten", "custom");
          for (let i = 0; i < 30; i++) active.child(`step ${i}`, "data").end();
          return 30;
        },
      },
      {
        path: "/fails",
        loader: () => {
          throw new TypeError("can't", { cause: new Error("deep inside") });
        },
      },
    ],
  });
  return {
    app,
    router,
    [Symbol.dispose]() {
      database.close();
    },
  };
}
