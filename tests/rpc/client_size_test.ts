import { assert } from "@std/assert";
import * as esbuild from "esbuild";
import {
  HTTP_CLIENT,
  sizeOf,
  WHOLE_CLIENT,
} from "../../bench/rpc/page_size.ts";

let http: number;
let whole: number;

// Not in the test: stop() doesn't wait for the end of esbuild's process.
Deno.test.beforeAll(async () => {
  http = await sizeOf(HTTP_CLIENT);
  whole = await sizeOf(WHOLE_CLIENT);
});
Deno.test.afterAll(() => esbuild.stop());

Deno.test("The client has at most 1.2 KB in a page, and 3 KB with subscriptions", () => {
  assert(http <= 1_229, `${http} bytes with HTTP alone`);
  assert(whole <= 3_072, `${whole} bytes with subscriptions`);
  // A bundle without the client would be small, too.
  assert(http > 512 && whole > http);
});
