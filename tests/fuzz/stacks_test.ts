/** Random stacks find the leaks that they look for. */

import { assertStringIncludes } from "@std/assert";
import { stacks } from "./targets/stacks.ts";
import { RequestScope } from "../../core/request_scope.ts";

/** Runs the stacks with a replaced method of all scopes. */
async function findWith(asked: RequestScope["asked"]): Promise<string> {
  const original = RequestScope.prototype.asked;
  RequestScope.prototype.asked = asked;
  try {
    const { failure } = await stacks.run({ seed: 1, numRuns: 1_000 });
    return `${failure?.error}`;
  } finally {
    RequestScope.prototype.asked = original;
  }
}

Deno.test("Random stacks find the leak if reading the user marks one scope only", async () => {
  const found = await findWith(function (this: RequestScope) {
    this.isPersonal = true;
    return false;
  });
  assertStringIncludes(found, "AssertionError");
});

Deno.test("Random stacks find the leak if reading the user marks no scope", async () => {
  assertStringIncludes(await findWith(() => true), "AssertionError");
});
