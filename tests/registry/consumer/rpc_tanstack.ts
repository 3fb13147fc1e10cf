import { createRouter, procedure } from "@quartet/kit/rpc";
import { createClient } from "@quartet/kit/rpc/client";
import { queryOptions } from "@quartet/kit/rpc/tanstack";
import { QueryClient } from "@tanstack/query-core";
import { equal } from "node:assert/strict";

const router = createRouter({ answer: procedure.query(() => 42) });
const rpc = createClient<typeof router>({
  httpEndpoint: "http://localhost/api/rpc",
  fetch: (url, init) => router.handler(new Request(url, init)),
});
const queries = new QueryClient();
const answer: number = await queries.fetchQuery(
  queryOptions(rpc.answer.query),
);
equal(answer, 42);
queries.clear();

console.log("@quartet/kit/rpc/tanstack works");
