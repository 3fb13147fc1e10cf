import { createPostgresChannel } from "@quartet/kit/rpc/postgres";
import { throws } from "node:assert/strict";

const connect = () => ({}) as never;
throws(
  () => createPostgresChannel({ name: "news", connect }),
  /must be a new client of npm:pg or npm:postgres/,
);

console.log("@quartet/kit/rpc/postgres works");
