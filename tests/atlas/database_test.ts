import { assert, assertEquals, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { createApp } from "@quartet/kit/app";
import { createAtlas } from "../../examples/atlas/atlas.ts";
import { openDatabase } from "../../examples/atlas/database.ts";

async function tempFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir();
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

Deno.test("The database file is filled once and reused", async () => {
  await using folder = await tempFolder();
  const file = `${folder.path}/atlas.db`;

  const first = openDatabase(file);
  assertEquals(
    first.prepare("SELECT count(*) AS n FROM country").get()!.n,
    250,
  );
  first.exec("UPDATE country SET name = 'Ours' WHERE code = 'CHE'");
  first.close();

  const second = openDatabase(file);
  const name = second.prepare("SELECT name FROM country WHERE code = 'CHE'");
  assertEquals(name.get()!.name, "Ours", "the written value is kept");
  assertEquals(
    second.prepare("SELECT count(*) AS n FROM country").get()!.n,
    250,
  );
  second.close();
});

Deno.test("A file of an earlier version gets the missing tables and keeps its data", async () => {
  await using folder = await tempFolder();
  const file = `${folder.path}/atlas.db`;
  const earlier = openDatabase(file);
  earlier.exec(`
    DROP TABLE favourite;
    DROP TABLE user;
    UPDATE country SET name = 'Ours' WHERE code = 'CHE';
    PRAGMA user_version = 1;
  `);
  earlier.close();

  const now = openDatabase(file);
  const name = now.prepare("SELECT name FROM country WHERE code = 'CHE'");
  assertEquals(name.get()!.name, "Ours");
  assertEquals(now.prepare("SELECT * FROM favourite").all(), []);
  now.close();
});

Deno.test("A file that can't be opened or isn't a database is an error", async () => {
  await using folder = await tempFolder();
  assertThrows(() => openDatabase(`${folder.path}/none/atlas.db`), Error);
  const text = `${folder.path}/text.db`;
  await Deno.writeTextFile(text, "not a database, though it is long enough");
  assertThrows(() => openDatabase(text), Error, "not a database");
});

Deno.test("A database whose filling failed is empty, and is filled next time", async () => {
  await using folder = await tempFolder();
  const file = `${folder.path}/atlas.db`;
  const other = new DatabaseSync(file);
  other.exec("CREATE TABLE border (in_the_way TEXT)");
  assertThrows(() => openDatabase(file), Error, "border");
  const { n } = other.prepare("SELECT count(*) AS n FROM sqlite_schema").get()!;
  assertEquals(n, 1, "nothing was added");
  other.exec("DROP TABLE border");
  other.close();
  openDatabase(file).close();
});

/** Returns whether this process has a file open. */
function isOpen(path: string): boolean {
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    try {
      if (Deno.readLinkSync(`/proc/self/fd/${name}`) === path) return true;
    } catch {
      // It was closed meanwhile.
    }
  }
  return false;
}

Deno.test({
  name: "Closing the app closes its database file",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using folder = await tempFolder();
    const path = `${await Deno.realPath(folder.path)}/atlas.db`;
    const app = createAtlas({ database: path });
    const get = () => app.fetch(new Request("http://localhost/api/countries"));
    assertEquals([(await get()).status, isOpen(path)], [200, true]);
    await app.close();
    assertEquals([(await get()).status, isOpen(path)], [503, false]);
  },
});

Deno.test("A page's queries are in its trace, below its loader and the cache", async () => {
  const tracer = createTracer();
  const atlas = createAtlas({ database: ":memory:" });
  const host = createApp({ trace: tracePlugin(tracer) });
  host.use((request) => atlas.fetch(request));
  const path = "/countries/CHE";
  await (await host.fetch(new Request(`http://localhost${path}`))).text();

  const [trace, ...others] = tracer.getTraces();
  assertEquals(others, []);
  const spans = [...trace!.spans.values()];
  const [loader, cache] = spans.filter(({ layer }) => layer === "data");
  assertEquals(loader!.name, "loader:/countries/:code");
  assertEquals([cache!.name, cache!.parentId], ["cache.get", loader!.id]);
  const queries = spans.filter(({ layer }) => layer === "database");
  assertEquals(queries.length, 2);
  for (const { parentId, attributes, status } of queries) {
    assertEquals([parentId, status], [cache!.id, "ok"]);
    assertEquals(attributes["db.system.name"], "sqlite");
    const text = String(attributes["db.query.text"]);
    assert(/FROM (country|border)/.test(text), text);
    assert(!text.includes("CHE"), "values are no part of the text");
  }
  await Promise.all([atlas.close(), host.close()]);
});
