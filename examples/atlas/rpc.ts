// How the page calls the server.

import { createClient } from "@quartet/kit/rpc/client";
import type { Api } from "./api.ts";

/** The API of Atlas, as if its procedures were here. */
export const rpc = createClient<Api>({ httpEndpoint: "/api/rpc" });
