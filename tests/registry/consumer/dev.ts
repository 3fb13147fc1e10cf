import { dev } from "@quartet/kit/dev";
import { equal } from "node:assert/strict";

equal(await dev(["--help"]), 0);

console.log("@quartet/kit/dev works");
