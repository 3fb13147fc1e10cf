/**
 * A collector that answers after a delay: `slow_collector.ts <ms> [n]`. With
 * `n`, it rejects every nth request with 503. Prints its URL.
 *
 * @module
 */

const [delay, refused] = Deno.args.map(Number);
const ids = new Set<string>();
let traces = 0;
let requests = 0;
let open = 0;
let atOnce = 0;

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
}, async (request) => {
  if (request.method === "GET") {
    return Response.json({ traces, distinct: ids.size, atOnce });
  }
  atOnce = Math.max(atOnce, ++open);
  const body = await request.text();
  await new Promise((resolve) => setTimeout(resolve, delay));
  open--;
  if (refused !== undefined && ++requests % refused === 0) {
    return new Response(null, { status: 503 });
  }
  for (const { scopeSpans } of JSON.parse(body).resourceSpans) {
    traces++;
    ids.add(scopeSpans[0].spans[0].traceId);
  }
  return Response.json({});
});
