/**
 * A Deno service, for services_test.ts. It prints its port. Its traces come
 * from Deno itself, with `OTEL_DENO`.
 *
 * @module
 */

const { addr } = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  () => {
    console.log("packing");
    return new Response("tea");
  },
);
console.log(addr.port);
