import { assertEquals } from "@std/assert";
import { createApp, type PluginHost, type Route } from "@quartet/kit/app";
import { withAuth } from "@quartet/kit/auth";

/** Returns what a route of an app answers, such as its parameters. */
async function ask(
  app: ReturnType<typeof createApp>,
  path: string,
): Promise<unknown> {
  const response = await app.fetch(new Request(`http://localhost${path}`));
  return await response.json();
}

Deno.test("A route's loader and action know the parameters of its path", async () => {
  const app = createApp();
  app.route({
    path: "/a/:id",
    loader: ({ params }) => ({ id: params.id }),
    // @ts-expect-error: the path has another parameter
    action: ({ params }) => params.name,
  });
  app.route({
    path: "/b/:id/c/:no",
    loader: ({ params: { id, no } }) => ({ id, no }),
  });
  app.route({ path: "/f/**:rest", loader: ({ params }) => [params.rest] });
  // @ts-expect-error: the path has no parameters
  app.route({ path: "/none", loader: ({ params }) => [`${params.id}`] });
  app.route({ path: "/w/:id", loader: withAuth(({ params }) => params.id) });
  assertEquals(await ask(app, "/a/7"), { id: "7" });
  assertEquals(await ask(app, "/b/7/c/8"), { id: "7", no: "8" });
  assertEquals(await ask(app, "/f/x/y"), ["x/y"]);
  assertEquals(await ask(app, "/none"), ["undefined"]);
});

Deno.test("A loader that several routes share names the parameters that it needs", () => {
  const shared = ({ params }: { params: { id: string } }) => params.id;
  const app = createApp();
  app.route({ path: "/a/:id", loader: shared });
  // @ts-expect-error: the path has another parameter
  app.route({ path: "/b/:no", loader: shared });
});

Deno.test("Parameters have any name if the path has other syntax, or isn't known", async () => {
  const later: Route = {
    path: "/later/:id",
    loader: ({ params }) => params,
  };
  const app = createApp({
    routes: [{ path: "/first/:id", loader: ({ params }) => [params.id] }],
  });
  app.route(later);
  app.route({ path: "/digits/:id(\\d+)", loader: ({ params }) => [params.id] });
  app.route({
    path: "/maybe/:id?",
    loader: ({ params }) => [`${params.id}`],
  });
  const prefix: string = "/:team";
  app.route({
    path: `${prefix}/users/:id`,
    loader: ({ params }) => [params.team, params.id],
  });
  for (const name of ["x", "y"]) {
    app.route({ path: `/${name}/:id`, loader: ({ params }) => [params.id] });
  }
  assertEquals(await ask(app, "/first/1"), ["1"]);
  assertEquals(await ask(app, "/later/2"), { id: "2" });
  assertEquals(await ask(app, "/digits/3"), ["3"]);
  assertEquals(await ask(app, "/maybe"), ["undefined"]);
  assertEquals(await ask(app, "/y/4"), ["4"]);
  assertEquals(await ask(app, "/red/users/5"), ["red", "5"]);
});

Deno.test("A plugin can add routes below a path, and code can stand in for an app", async () => {
  function below(prefix: string, app: PluginHost): PluginHost {
    return {
      use: (middleware) => app.use(middleware),
      route: (route) => app.route({ ...route, path: prefix + route.path }),
    };
  }
  const routes: Route[] = [];
  const recorder: PluginHost = {
    use: () => recorder,
    route(route: Route) {
      routes.push(route);
      return recorder;
    },
  };
  const add = (app: PluginHost) =>
    below("/v1", app).route({ path: "/a/:id", loader: ({ params }) => params });
  const app = createApp();
  add(app);
  add(recorder);
  assertEquals(await ask(app, "/v1/a/7"), { id: "7" });
  assertEquals(routes.map(({ path }) => path), ["/v1/a/:id"]);
});
