/**
 * One application for all servers: its modules, and the handlers that each
 * server calls.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { errorResponse } from "@quartet/kit/app";
import type { Plugin, RequestContext } from "@quartet/kit/app";
import {
  createAuthPlugin,
  credentials,
  getAuth,
  getUser,
} from "@quartet/kit/auth";
import type { AuthPlugin } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import type { Cache } from "@quartet/kit/data";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { createTracer, tracedAdapter, tracePlugin } from "@quartet/kit/trace";
import type { TracerImpl } from "@quartet/kit/trace";
import { currentScope } from "../../core/request_scope.ts";

/** The modules and the handlers. */
export interface Kit extends Disposable {
  readonly tracer: TracerImpl;
  readonly trace: Plugin;
  readonly auth: AuthPlugin;
  readonly rpc: Plugin;
  readonly cache: Cache;
  /** Number of database queries. */
  readonly asked: { count: number };
  /** Errors reported by servers and handlers. */
  readonly errors: unknown[];
  signIn(request: Request, context: RequestContext): Promise<Response>;
  /** Requires a signed-in user. */
  account(context: RequestContext): Response;
  cities(): Promise<Response>;
}

/** The procedures' types, for clients. */
export type Api = ReturnType<typeof createApi>;

/** Creates the modules with their own cache and database. */
export function createKit(): Kit {
  const tracer = createTracer();
  const cache = createCache();
  const database = new DatabaseSync(":memory:");
  database.exec(
    "CREATE TABLE city (name TEXT); INSERT INTO city VALUES ('Rome')",
  );
  const traced = tracedAdapter(database, { system: "sqlite" });
  const asked = { count: 0 };
  const findCities = cache.unstable_cache(
    () => {
      asked.count++;
      const rows = traced.prepare("SELECT name FROM city").all();
      return Promise.resolve(rows.map(({ name }) => String(name)));
    },
    ["cities"],
    { tags: ["city"] },
  );
  const addCity = async (name: string) => {
    traced.prepare("INSERT INTO city VALUES (?)").run(name);
    await cache.revalidateTag("city");
  };
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [
      credentials({
        authorize: ({ name, password }) =>
          Promise.resolve(
            name === "ada" && password === "engine" ? { id: "1", name } : null,
          ),
      }),
    ],
  });
  return {
    tracer,
    trace: tracePlugin(tracer),
    auth,
    rpc: rpcPlugin({ router: createApi(findCities, addCity) }),
    cache,
    asked,
    errors: [],
    async signIn(request, context) {
      const { userId } = await getAuth(context)
        .signIn("credentials", await request.json());
      return Response.json({ userId });
    },
    account(context) {
      const user = getUser(context);
      if (user === null) {
        throw errorResponse(401, "UNAUTHORIZED", "Authentication required");
      }
      return Response.json(user.id);
    },
    cities: async () => Response.json(await findCities()),
    [Symbol.dispose]: () => database.close(),
  };
}

function createApi(
  findCities: () => Promise<string[]>,
  addCity: (name: string) => Promise<void>,
) {
  const contextual = procedure.context<RequestContext>();
  return createRouter({
    cities: procedure.query(() => findCities()),
    found: procedure.mutation(() => addCity("Oslo")),
    whoami: contextual.query(({ ctx }) => getUser(ctx)?.id ?? "nobody"),
    watch: contextual.subscription(async function* ({ ctx }) {
      yield getUser(ctx)?.id ?? "nobody";
      yield* await findCities();
    }),
    traceId: procedure.query(() => currentScope()?.span?.traceId ?? "none"),
  });
}
