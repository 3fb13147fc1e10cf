// The page's RPC client.

import { createClient } from "@quartet/kit/rpc/client";
import type { Api } from "./api.ts";

/** The client of Atlas' API. */
export const rpc = createClient<Api>({ httpEndpoint: "/api/rpc" });
