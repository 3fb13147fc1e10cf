import { assertEquals } from "@std/assert";
import { createTokenBucket } from "../../viewer/model/token_bucket.ts";

Deno.test("createTokenBucket() allows a burst, then one per interval", () => {
  const take = createTokenBucket(3, 100);
  assertEquals([take(0), take(0), take(0)], [0, 0, 0]);
  assertEquals([take(0), take(40), take(99)], [100, 60, 1]);
  assertEquals([take(100), take(100)], [0, 100]);
});

Deno.test("createTokenBucket() refills up to the burst only", () => {
  const take = createTokenBucket(2, 100);
  assertEquals([take(0), take(0), take(0)], [0, 0, 100]);
  assertEquals([take(1e6), take(1e6), take(1e6)], [0, 0, 100]);
});
