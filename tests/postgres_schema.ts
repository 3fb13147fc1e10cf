import pg from "pg";
import { type Driver, DRIVERS, newSchema } from "./postgres_server.ts";

/** A test's own schema, and the stores that the test opens in it. */
export interface PostgresSchema extends AsyncDisposable {
  readonly schema: string;
  /** Creates clients for a store. */
  readonly connect: ReturnType<typeof DRIVERS[Driver]>;
  /** Runs a statement as an administrator, on its own connection. */
  run(text: string, values?: unknown[]): Promise<unknown[][]>;
  /** Registers a store to close before the schema is dropped. */
  use<S extends AsyncDisposable>(store: S): S;
}

/** Creates a schema. It's dropped at the end of its block. */
export async function openSchema(
  url: string,
  driver: Driver,
): Promise<PostgresSchema> {
  const stack = new AsyncDisposableStack();
  const schema = newSchema();
  const admin = new pg.Client(url);
  admin.on("error", () => {});
  await admin.connect();
  stack.defer(async () => {
    await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await admin.end();
  });
  return {
    schema,
    connect: DRIVERS[driver](url),
    async run(text, values) {
      return (await admin.query({ text, values, rowMode: "array" })).rows;
    },
    use: (store) => stack.use(store),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
