/** What the running test has asked for that only Deno has. */
let asked = Promise.withResolvers<string>();

/** Begins anew, for the next test. */
export function listenForNeeds(): Promise<string> {
  asked = Promise.withResolvers<string>();
  return asked.promise;
}

/** Ends a test that asks for what only Deno has. */
export function needsDeno(name: string): never {
  asked.resolve(`Deno.${name}`);
  throw new Error(`Deno.${name} is not available in this runtime`);
}
