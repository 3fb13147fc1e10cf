import { revalidateTag, unstable_cache } from "@quartet/kit/data";
import { equal } from "node:assert/strict";

const names = new Map([[1, "Ada"]]);
const findName = unstable_cache(
  (id: number) => Promise.resolve(names.get(id)),
  ["name"],
  { tags: ["names"] },
);

equal(await findName(1), "Ada");
names.set(1, "Grace");
equal(await findName(1), "Ada");
await revalidateTag("names");
const name: string | undefined = await findName(1);
equal(name, "Grace");

console.log("@quartet/kit/data works");
