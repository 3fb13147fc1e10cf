/** Name of the API that the running test used and only Deno has. */
let needed = Promise.withResolvers<string>();

/** Starts to listen for the next test. */
export function listenForNeeds(): Promise<string> {
  needed = Promise.withResolvers<string>();
  return needed.promise;
}

/** Ends a test that uses an API that only Deno has. */
export function needsDeno(name: string): never {
  needed.resolve(`Deno.${name}`);
  throw new Error(`Deno.${name} is not available in this runtime`);
}
