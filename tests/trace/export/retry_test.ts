import { assertEquals } from "@std/assert";
import { backoff, retryAfter } from "../../../trace/export/otlp_sender.ts";

Deno.test("backoff() doubles up to 30 seconds, less a random part of up to half", () => {
  const attempts = [1, 2, 3, 4, 5, 6, 20];
  assertEquals(
    attempts.map((attempt) => backoff(attempt, 0)),
    [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000],
  );
  assertEquals(backoff(1, 0.5), 750);
  assertEquals(backoff(6, 1), 15_000);
});

Deno.test("retryAfter() accepts seconds and dates only", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const cases: [string | null, number | undefined][] = [
    ["0", 0],
    [" 3 ", 3000],
    ["Thu, 01 Jan 2026 00:00:09 GMT", 9000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["86400", 300_000],
    ["soon", undefined],
    ["-1x", undefined],
    [null, undefined],
  ];
  for (const [header, expected] of cases) {
    assertEquals(retryAfter(header, now), expected, `${header}`);
  }
});
