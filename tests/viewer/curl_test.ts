import { assertEquals } from "@std/assert";
import { curlCommand, shellQuote } from "../../viewer/model/curl.ts";
import { span, trace } from "./make_trace.ts";

const ORIGIN = "http://localhost:8000";

function curl(attributes: Record<string, string | number>) {
  const made = trace(span("x", 0, 1, [], { attributes }));
  return curlCommand(made.spans[0]!, ORIGIN);
}

Deno.test("curlCommand() repeats method, headers, path and query", () => {
  assertEquals(
    curl({
      "http.request.method": "POST",
      "url.path": "/cart",
      "url.query": "a=1&b[]=2",
      "http.request.header.accept": "text/html",
      "http.request.header.content-length": 12,
    }),
    "curl --globoff --request 'POST' --header 'accept: text/html' " +
      "--url 'http://localhost:8000/cart?a=1&b[]=2'",
  );
});

Deno.test("curlCommand() asks the server that the span names", () => {
  assertEquals(
    curl({
      "http.request.method": "GET",
      "url.scheme": "https",
      "server.address": "shop.test",
      "server.port": 8443,
      "url.path": "/",
    }),
    "curl --globoff --url 'https://shop.test:8443/'",
  );
});

Deno.test("curlCommand() uses a full address where there is one", () => {
  assertEquals(
    curl({ "http.request.method": "HEAD", "url.full": "https://a.test/x?y" }),
    "curl --globoff --head --url 'https://a.test/x?y'",
  );
});

Deno.test("curlCommand() is for HTTP only", () => {
  assertEquals(curl({ "url.path": "/" }), undefined);
  assertEquals(curl({ "http.request.method": "GET" }), undefined);
  assertEquals(
    curl({ "http.request.method": "GET", "url.full": "javascript:alert(1)" }),
    undefined,
  );
});

Deno.test("shellQuote() lets nothing through a POSIX shell", async () => {
  const nasty = "a'b\"c$(id)`id`\\ \n;&|<>*?[]{}!#~\u2028é'";
  assertEquals(shellQuote("it's\0"), `'it'\\''s'`);
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `printf %s ${shellQuote(nasty)}`],
  }).output();
  assertEquals(new TextDecoder().decode(stdout), nasty);
});
