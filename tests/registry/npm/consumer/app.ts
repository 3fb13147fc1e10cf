/**
 * A typical server on Node or Bun: Hono with all four modules.
 *
 * @module
 */

import { toHono } from "@quartet/kit/app";
import {
  createAuthPlugin,
  credentials,
  getAuth,
  getUser,
  requireAuth,
} from "@quartet/kit/auth";
import { createRevalidationHandler, unstable_cache } from "@quartet/kit/data";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import {
  createCLIReporter,
  createTracer,
  tracePlugin,
} from "@quartet/kit/trace";
import { Hono } from "hono";
import { z } from "zod";

const tracer = createTracer();
createCLIReporter(tracer);
const auth = createAuthPlugin({
  session: { secret: "a secret of at least thirty-two bytes" },
  providers: [
    credentials({
      authorize: ({ name, password }) =>
        name === "ada" && password === "engine" ? { id: "1", name } : null,
    }),
  ],
});

let computed = 0;
const countComputed = unstable_cache(
  () => Promise.resolve(++computed),
  ["computed"],
  { tags: ["computed"] },
);

/** The procedures of the server. */
export const router = createRouter({
  computed: procedure.query(() => countComputed()),
  name: procedure.query(({ ctx }) => getUser(ctx)?.name ?? null),
  echo: procedure.mutation(z.json(), ({ input }) => input),
  count: procedure.subscription(async function* ({ ctx }) {
    for (let n = 1; n <= 3; n++) {
      yield await Promise.resolve(`${getUser(ctx)?.name} ${n}`);
    }
  }),
  endless: procedure.subscription(async function* ({ signal }) {
    try {
      yield "begun";
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    } finally {
      console.log("ended");
    }
  }),
});

let isDatabaseOpen = true;
const kit = toHono(
  tracePlugin(tracer),
  { name: "database", close: () => void (isDatabaseOpen = false) },
  auth,
  rpcPlugin({ router }),
);
const revalidate = createRevalidationHandler("let me");

export const app = new Hono();
app.use(kit);
app.post("/sign-in", async (c) => {
  await getAuth(c).signIn("credentials", await c.req.json());
  return c.body(null, 204);
});
app.get("/me", toHono(requireAuth()), (c) => c.json(getUser(c)));
app.get("/posts/:id", (c) => c.text(c.req.param("id")));
app.get("/slow", async (c) => {
  console.log("slow request");
  await new Promise((resolve) => setTimeout(resolve, 300));
  return c.json({ isDatabaseOpen });
});
app.post("/revalidate", (c) => revalidate(c.req.raw));

/** Releases the resources of the modules. */
export const { close } = kit;
