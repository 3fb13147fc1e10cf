import { assertEquals, assertRejects } from "@std/assert";
import { collectRegexes } from "../tools/regexes/collect.ts";
import { assertLinear, LONG, SHORT, type Work } from "./growth.ts";
import { attacksOn } from "./regex_attacks.ts";

/** Runs all methods of an expression on a text. */
function match(regex: RegExp, text: string): void {
  regex.lastIndex = 0;
  if (regex.global) text.replace(regex, "");
  else regex.exec(text);
}

async function assertAllLinear(
  regex: RegExp,
  settings: Pick<Work<string>, "lengths" | "attempts"> = {},
): Promise<void> {
  for (const attack of attacksOn(regex)) {
    await assertLinear(`${regex}`, {
      prepare: attack,
      run: (text) => match(regex, text),
      ...settings,
    });
  }
}

const { regexes } = await collectRegexes();

Deno.test("collectRegexes() finds expressions in every source folder", () => {
  const folders = regexes.flatMap(({ places }) =>
    places.map((place) => place.split("/", 1)[0]!)
  );
  assertEquals(
    ["app", "auth", "core", "data", "dev", "examples", "rpc", "trace", "viewer"]
      .filter((folder) => !folders.includes(folder)),
    [],
  );
});

for (const { places, regex } of regexes) {
  Deno.test(`${places.join(", ")}: ${regex} takes linear time`, () =>
    assertAllLinear(regex));
}

/** Slow expressions of each kind that the attacks must find. */
const QUADRATIC = [
  /(?:\.{3})?"[^]*?"(?:\.{3})? is not valid JSON/g,
  /\/+$/,
  /(?<=.)\/+$/,
  /\s*(<\/body><\/html>)$/,
  /^\s*application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i,
  /\B(?=(\d{3})+$)/g,
  /"[^"]+"|\[[^\]]+\]/,
  /\(?(file:\/\/\S+?:\d+:\d+)\)?\s*$/gm,
];

for (const regex of QUADRATIC) {
  Deno.test(`assertAllLinear() finds that ${regex} takes more than linear time`, async () => {
    // At a quarter of the length, the test takes a sixteenth of the time.
    const lengths = [SHORT / 4, LONG / 4] as const;
    // More attempts could only find that it is linear.
    const settings = { lengths, attempts: 1 };
    await assertRejects(() => assertAllLinear(regex, settings), Error, "cost");
  });
}
