import { assert } from "@std/assert";
import * as esbuild from "esbuild";
import {
  HTTP_CLIENT,
  sizeOf,
  WHOLE_CLIENT,
} from "../../bench/rpc/page_size.ts";

Deno.test("The client has at most 1.2 KB in a page, and 3 KB with subscriptions", async () => {
  try {
    const http = await sizeOf(HTTP_CLIENT);
    assert(http <= 1_229, `${http} bytes with HTTP alone`);
    const whole = await sizeOf(WHOLE_CLIENT);
    assert(whole <= 3_072, `${whole} bytes with subscriptions`);
    // A bundle without the client would be small, too.
    assert(http > 512 && whole > http);
  } finally {
    await esbuild.stop();
  }
});
