/** Name of the API that the running test used and only Deno has. */
let asked = Promise.withResolvers<string>();

/** Starts to listen for the next test. */
export function listenForNeeds(): Promise<string> {
  asked = Promise.withResolvers<string>();
  return asked.promise;
}

/** Ends a test that uses an API that only Deno has. */
export function needsDeno(name: string): never {
  asked.resolve(`Deno.${name}`);
  throw new Error(`Deno.${name} is not available in this runtime`);
}
