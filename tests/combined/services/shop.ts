/**
 * An app for the dev command, for services_test.ts. It calls the service in the
 * query, and runs a query of its own.
 *
 * @module
 */

import { tracedFetch, traceQuery } from "@quartet/kit/trace";

const fetch = tracedFetch({ trustedOrigins: "*" });

export default {
  async fetch(request: Request): Promise<Response> {
    await traceQuery("SELECT 1", () => Promise.resolve([]));
    const stock = new URL(request.url).searchParams.get("stock");
    return stock === null
      ? new Response("open")
      : new Response(await (await fetch(`${stock}/stock/tea`)).text());
  },
};
