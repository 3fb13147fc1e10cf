import { createCaller, createRouter, procedure } from "@quartet/kit/rpc";
import { equal } from "node:assert/strict";
import { z } from "zod";

const router = createRouter({
  math: {
    double: procedure.query(z.number(), ({ input }) => input * 2),
  },
});
const four: number = await createCaller(router).math.double.query(2);
equal(four, 4);

console.log("@quartet/kit/rpc works");
