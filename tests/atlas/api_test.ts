import { assert, assertEquals, assertRejects } from "@std/assert";
import { RPCClientError } from "@quartet/kit/rpc/client";
import { serveAtlas } from "./serve_atlas.ts";

Deno.test("Countries are searched and looked up through RPC", async () => {
  await using atlas = serveAtlas();
  const { countries } = atlas.visitor().rpc;
  assertEquals((await countries.search.query({})).length, 250);
  assertEquals(await countries.search.query({ query: "bern" }), [
    { code: "CHE", name: "Switzerland", flag: "🇨🇭", region: "Europe" },
  ]);
  assertEquals((await countries.byCode.query({ code: "isl" })).name, "Iceland");

  const unknown = await assertRejects(
    () => countries.byCode.query({ code: "xxx" }),
    RPCClientError,
  );
  assertEquals([unknown.code, unknown.status], ["NOT_FOUND", 404]);
  const malformed = await assertRejects(
    () => countries.byCode.query({ code: "Iceland" }),
    RPCClientError,
  );
  assertEquals(malformed.code, "VALIDATION_ERROR");
});

Deno.test("Each user has separate favourites", async () => {
  await using atlas = serveAtlas();
  const [ada, other] = [atlas.visitor(), atlas.visitor()];
  await ada.signInWithHillside("ada");
  await other.signInWithHillside("grace");
  const { rpc } = ada;
  const anonymous = atlas.visitor().rpc;

  await rpc.favourites.add.mutate({ code: "ISL" });
  await rpc.favourites.add.mutate({ code: "che" });
  await rpc.favourites.add.mutate({ code: "CHE" });
  assertEquals((await rpc.favourites.list.query()).map(({ name }) => name), [
    "Iceland",
    "Switzerland",
  ]);
  assertEquals(await other.rpc.favourites.list.query(), []);

  await rpc.favourites.remove.mutate({ code: "isl" });
  await rpc.favourites.remove.mutate({ code: "NOR" });
  assertEquals((await rpc.favourites.list.query()).map(({ code }) => code), [
    "CHE",
  ]);

  for (
    const call of [
      () => anonymous.favourites.list.query(),
      () => anonymous.favourites.add.mutate({ code: "ISL" }),
    ]
  ) {
    assertEquals(
      (await assertRejects(call, RPCClientError)).code,
      "UNAUTHORIZED",
    );
  }
  const unknown = await assertRejects(
    () => rpc.favourites.add.mutate({ code: "ZZZ" }),
    RPCClientError,
  );
  assertEquals(unknown.code, "NOT_FOUND");
});

Deno.test("The API has an OpenAPI document", async () => {
  await using atlas = serveAtlas();
  const document = await (await fetch(`${atlas.origin}/api/openapi.json`))
    .json();
  const { Validator } = await import("@seriousme/openapi-schema-validator");
  const { valid, errors } = await new Validator().validate(document);
  assert(valid, JSON.stringify(errors));
  assertEquals(Object.keys(document.paths), [
    "/api/rpc/countries.search",
    "/api/rpc/countries.byCode",
    "/api/rpc/favourites.list",
    "/api/rpc/favourites.add",
    "/api/rpc/favourites.remove",
  ]);

  // A call built from the document works.
  const url = `${atlas.origin}/api/rpc/countries.byCode?input=${
    encodeURIComponent('{"code":"ISL"}')
  }`;
  assertEquals((await (await fetch(url)).json()).data.name, "Iceland");
});
