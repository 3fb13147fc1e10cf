// A report of a shop. One of its queries compares each product with all others.

import { DatabaseSync } from "node:sqlite";
import { createApp } from "@quartet/kit/app";
import { tracedAdapter } from "@quartet/kit/trace";
import { scriptRoute, shopPage } from "./page.ts";

const PRODUCTS = 2_000;

const database = new DatabaseSync(":memory:");
database.exec(
  "CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, price REAL)",
);
const insert = database.prepare(
  "INSERT INTO product (name, price) VALUES (?, ?)",
);
for (let i = 0; i < PRODUCTS; i++) {
  insert.run(`Tea number ${i} from the hills`, i % 90);
}
const traced = tracedAdapter(database, { system: "sqlite" });

export default createApp({
  plugins: [{ name: "database", close: () => database.close() }],
  routes: [
    await scriptRoute(),
    {
      path: "/report",
      loader() {
        const { count } = traced.prepare(
          "SELECT count(*) AS count FROM product",
        )
          .get() as { count: number };
        const { price } = traced.prepare(
          "SELECT avg(price) AS price FROM product",
        )
          .get() as { price: number };
        const { pairs } = traced.prepare(
          "SELECT count(*) AS pairs FROM product a JOIN product b ON b.name LIKE '%number ' || a.id || '%'",
        ).get() as { pairs: number };
        return shopPage(
          "Report",
          `<p>${count} products, ${
            price.toFixed(2)
          } on average, ${pairs} with similar names</p>`,
        );
      },
    },
  ],
});
