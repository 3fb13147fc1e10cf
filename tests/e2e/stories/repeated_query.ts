// The orders of a shop. A query for each order loads its customer.

import { DatabaseSync } from "node:sqlite";
import { createApp } from "@quartet/kit/app";
import { tracedAdapter } from "@quartet/kit/trace";
import { scriptRoute, shopPage } from "./page.ts";

const ORDERS = 40;

const database = new DatabaseSync(":memory:");
database.exec(`
  CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, total REAL);
`);
for (let i = 1; i <= ORDERS; i++) {
  database.prepare("INSERT INTO customer VALUES (?, ?)").run(
    i,
    `Customer ${i}`,
  );
  database.prepare("INSERT INTO purchase VALUES (?, ?, ?)").run(i, i, i * 3);
}
const traced = tracedAdapter(database, { system: "sqlite" });

export default createApp({
  plugins: [{ name: "database", close: () => database.close() }],
  routes: [
    await scriptRoute(),
    {
      path: "/orders",
      loader() {
        const orders = traced.prepare(
          "SELECT id, customer, total FROM purchase",
        )
          .all() as { id: number; customer: number; total: number }[];
        const rows = orders.map(({ id, customer, total }) => {
          const { name } = traced.prepare(
            "SELECT name FROM customer WHERE id = ?",
          )
            .get(customer) as { name: string };
          return `<li>${id}: ${name}, ${total} €</li>`;
        });
        return shopPage("Orders", `<ol>${rows.join("")}</ol>`);
      },
    },
  ],
});
