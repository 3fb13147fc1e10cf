import { createPostgresSessionStore } from "@quartet/kit/auth/postgres";
import { throws } from "node:assert/strict";

const connect = () => ({}) as never;
throws(
  () => createPostgresSessionStore({ connect }),
  /must be a new client of npm:pg or npm:postgres/,
);

console.log("@quartet/kit/auth/postgres works");
