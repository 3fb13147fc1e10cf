/** Reads the fields of a submitted form. `createAtlas()` limits its size. */
export async function readForm(
  request: Request,
): Promise<Partial<Record<string, string>>> {
  return Object.fromEntries(new URLSearchParams(await request.text()));
}
