// The page's RPC client.

import { createClient } from "@quartet/kit/rpc/client";
import type { Api } from "./api.ts";

export const rpc = createClient<Api>({ httpEndpoint: "/api/rpc" });
