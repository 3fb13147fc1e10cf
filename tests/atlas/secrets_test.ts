import { assert, assertEquals, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import {
  createTracer,
  noopTracer,
  serializeTrace,
  setTracer,
} from "@quartet/kit/trace";
import { keptSecret } from "../../examples/atlas/secret.ts";
import { click } from "../auth/oauth_setup.ts";
import { makeFolder } from "../dev/dev_command.ts";
import { connect, subscribe } from "../rpc/helpers.ts";
import { emailOf, PASSWORD, serveAtlas } from "./serve_atlas.ts";

Deno.test("Traces contain every sign-in, with Hillside's part, and no secret", async () => {
  const tracer = createTracer();
  // Hillside uses the global tracer, as under the dev command.
  setTracer(tracer);
  await using folder = await makeFolder();
  const database = `${folder.path}/atlas.db`;
  const sessionSecret = crypto.randomUUID();
  await using atlas = serveAtlas({ database, sessionSecret, tracer });
  setTracer(noopTracer);
  const secrets = [sessionSecret, PASSWORD, "a wrong password"];
  const noteCookies = (received: readonly string[]) => {
    for (const line of received) {
      const [, value = ""] = /^[^=]+=([^;]*)/.exec(line)!;
      if (line.startsWith("app.session") && value !== "") {
        secrets.push(value, value.slice(-40));
      }
    }
  };

  const ada = await atlas.signUp("Ada");
  noteCookies(ada.browser.received);
  await using socket = await connect({
    url: `${atlas.origin}/api/rpc`,
    headers: { cookie: ada.cookie },
  });
  socket.send(subscribe("1", "favourites.live"));
  await socket.next();
  await ada.rpc.favourites.add.mutate({ code: "ISL" });
  await ada.submit("/sign-up", {
    name: "Ada",
    email: emailOf("Ada"),
    password: "a wrong password",
  });
  await ada.submit("/sign-in", {
    email: emailOf("Ada"),
    password: "a wrong password",
  });
  const { location } = await ada.open("/sign-in/hillside");
  noteCookies(ada.browser.received);
  const { code, state } = await click(location!, "grace");
  secrets.push(code, state);
  const query = new URLSearchParams({ code, state });
  await ada.open(`/sign-in/hillside/callback?${query}`);
  noteCookies(ada.browser.received);
  await ada.open("/account");
  await ada.submit("/sign-out-everywhere");

  const other = new DatabaseSync(database);
  for (
    const { password_hash: hash } of other.prepare("SELECT * FROM user").all()
  ) {
    if (typeof hash === "string") secrets.push(hash, hash.split("$").at(-1)!);
  }
  other.close();

  const traces = tracer.getTraces();
  const names = traces.flatMap(({ spans }) =>
    // Hillside has a different port each time.
    Array.from(spans.values(), ({ name }) => name.replace(/:\d+\//, "/"))
  );
  for (
    const name of [
      "auth:signIn",
      "auth:password",
      "auth:callback",
      "auth:signOut",
      "fetch POST 127.0.0.1/github/login/oauth/access_token",
      "POST /github/login/oauth/access_token",
      "fetch GET 127.0.0.1/github/api/v3/user",
      "GET /github/api/v3/user",
    ]
  ) {
    assert(names.includes(name), `${name} is among ${names.join(", ")}`);
  }
  const callback = traces.find(({ metadata }) =>
    metadata.pathname === "/sign-in/hillside/callback"
  )!;
  assert(
    callback.spans.values()
      .some(({ name }) => name === "GET /github/api/v3/user"),
    "Hillside's spans are in the same trace",
  );

  const text = JSON.stringify(traces.map(serializeTrace));
  assertEquals(secrets.length, new Set(secrets).size);
  for (const secret of secrets) {
    assert(secret.length > 10 && !text.includes(secret), secret);
    assert(!text.includes(encodeURIComponent(secret)), secret);
  }
});

Deno.test("The session secret is created once, readable only by its owner", async () => {
  await using folder = await makeFolder();
  const path = `${folder.path}/atlas.secret`;
  const secret = keptSecret(path);
  assertEquals(Uint8Array.fromBase64(secret).length, 32);
  assertEquals(keptSecret(path), secret);
  if (Deno.build.os !== "windows") {
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
  }
  assert(keptSecret(`${folder.path}/other.secret`) !== secret);
  assertThrows(() => keptSecret(`${folder.path}/none/atlas.secret`));
});
