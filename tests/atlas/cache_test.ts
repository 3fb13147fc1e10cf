import { assertEquals, assertMatch } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { createAtlas } from "../../examples/atlas/atlas.ts";

/** Starts Atlas, and another program that edits its database. */
async function atlas() {
  const file = await Deno.makeTempFile({ suffix: ".db" });
  const app = createAtlas({ database: file, revalidateSecret: "secret" });
  const elsewhere = new DatabaseSync(file);
  return {
    async capital(path: string): Promise<string | undefined> {
      const response = await app.fetch(new Request(`http://localhost${path}`));
      const text = await response.text();
      return /<dt>Capital<\/dt><dd>(.*?)<\/dd>/.exec(text)?.[1];
    },
    edit(capital: string): void {
      elsewhere.prepare("UPDATE country SET capital = ? WHERE code = 'CHE'")
        .run(capital);
    },
    revalidate: (body: unknown, authorization = "Bearer secret") =>
      app.fetch(
        new Request("http://localhost/api/revalidate", {
          method: "POST",
          headers: { "content-type": "application/json", authorization },
          body: JSON.stringify(body),
        }),
      ),
    async [Symbol.asyncDispose]() {
      elsewhere.close();
      await app.close();
      await Deno.remove(file);
    },
  };
}

Deno.test("A country's page is cached until a webhook invalidates it", async () => {
  for (
    const body of [
      { tags: ["country:CHE"] },
      { tags: ["country"] },
      { paths: ["/countries/CHE"] },
      { paths: ["/countries/*"] },
      { all: true },
    ]
  ) {
    await using demo = await atlas();
    assertEquals(await demo.capital("/countries/CHE"), "Bern");
    demo.edit("Zürich");
    assertEquals(await demo.capital("/countries/che"), "Bern");
    for (const other of [{ tags: ["country:FRA"] }, { paths: ["/"] }]) {
      assertEquals((await demo.revalidate(other)).status, 200);
    }
    assertEquals(await demo.capital("/countries/CHE"), "Bern");
    const response = await demo.revalidate(body);
    assertEquals((await response.json()).success, true);
    assertEquals(await demo.capital("/countries/CHE"), "Zürich");
    assertEquals(await demo.capital("/countries/che"), "Zürich");
  }
});

Deno.test("The webhook refuses requests without the secret", async () => {
  await using demo = await atlas();
  await demo.capital("/countries/CHE");
  demo.edit("Zürich");
  const response = await demo.revalidate({ all: true }, "Bearer guess");
  assertEquals(response.status, 401);
  assertMatch(await response.text(), /"UNAUTHORIZED"/);
  assertEquals(await demo.capital("/countries/CHE"), "Bern");
});
