import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { isLocalRequest } from "@quartet/kit/trace";
import { mutated, piece } from "../input/mutate.ts";
import { asHeader, requestOf } from "../input/request.ts";
import { defineTarget } from "../target.ts";

const LOCAL = ["localhost", "a.localhost", "127.0.0.1", "[::1]"];
const OTHERS = [
  ..."LOCALHOST|127.1|0x7f000001|2130706433|[::ffff:127.0.0.1]|::1|0.0.0.0"
    .split("|"),
  ..."10.0.0.1|evil.example|localhost.evil.example|evillocalhost".split("|"),
];
const ENDS = [":", ".", "@evil.example", "@localhost", "#.localhost", "/"];

const host = mutated(
  fc.tuple(
    fc.oneof(fc.constantFrom(...LOCAL), fc.constantFrom(...OTHERS)),
    fc.oneof(
      { arbitrary: fc.constantFrom("", ":80", ":8000"), weight: 5 },
      { arbitrary: fc.constantFrom(...ENDS), weight: 1 },
    ),
  ).map((parts) => parts.join("")),
);

/** Placeholder for the host in an `Origin`. */
const HOST = "HOST";

const input = fc.record({
  host,
  origin: fc.option(
    fc.oneof(
      fc.constantFrom(`http://${HOST}`, `https://${HOST}`, `http://${HOST}`),
      fc.constantFrom("null", "http://evil.example", "http://localhost", ""),
      host.map((host) => `http://${host}`),
    ),
    { freq: 2 },
  ),
  address: fc.constantFrom(
    "127.0.0.1",
    "127.8.9.1",
    "::1",
    "10.0.0.1",
    "1.2.7.1",
  ),
  proxy: fc.oneof(
    { arbitrary: fc.constant(null), weight: 8 },
    {
      arbitrary: fc.record({
        name: fc.constantFrom("forwarded", "via", "x-forwarded-for"),
        value: piece,
      }),
      weight: 1,
    },
  ),
});

export const viewerAccess = defineTarget(
  "viewer-access",
  "only loopback requests with a local host name and no foreign origin see the traces",
  input,
  () => ({
    async check({ host, origin, address, proxy }) {
      const headers: Record<string, string> = { host: asHeader(host) };
      if (origin !== null) {
        headers["origin"] = asHeader(origin.replace(HOST, host));
      }
      if (proxy !== null) headers[proxy.name] = asHeader(proxy.value);
      const request = requestOf("/", { headers });
      if (request === undefined) return "not sent";
      const isLocal = await isLocalRequest(request, {
        remoteAddr: { transport: "tcp", hostname: address, port: 50_000 },
      });
      if (!isLocal) return "refused";
      assert(address === "::1" || address.startsWith("127."), address);
      assertEquals(proxy, null);
      // A port may be too large for a URL.
      const name = request.headers.get("host")!.replace(/:\d+$/, "");
      const sent = URL.parse(`http://${name}`)!;
      assert(isLoopback(sent.hostname), `${host} is ${sent?.hostname}`);
      assertEquals([sent.pathname, sent.username], ["/", ""]);
      if (origin !== null) {
        const from = URL.parse(
          request.headers.get("origin")!.replace(/:\d+$/, ""),
        )!;
        assert(isLoopback(from.hostname), `${origin} is ${from?.hostname}`);
        assertEquals(from.hostname, sent.hostname);
      }
      return "let in";
    },
  }),
);

function isLoopback(hostname: string): boolean {
  return /(^|\.)localhost$|^127\.|^\[::1\]$|^\[::ffff:7f[0-9a-f]{2}:/.test(
    hostname,
  );
}
