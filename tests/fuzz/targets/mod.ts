import type { Target } from "../target.ts";
import { argumentKeys } from "./arguments.ts";
import { clientSpans } from "./client_spans.ts";
import { cookies } from "./cookies.ts";
import { oauthCallback } from "./oauth_callback.ts";
import { otlpReceiver } from "./otlp_receiver.ts";
import { pageCache } from "./page_cache.ts";
import { pathScopes } from "./path_scopes.ts";
import { paths } from "./paths.ts";
import { queryString } from "./query_string.ts";
import { redirects } from "./redirects.ts";
import { revalidation } from "./revalidation.ts";
import { rpcClient } from "./rpc_client.ts";
import { rpcHTTP } from "./rpc_http.ts";
import { rpcSocket } from "./rpc_socket.ts";
import { stacks } from "./stacks.ts";
import { tokens } from "./tokens.ts";
import { traceImport } from "./trace_import.ts";
import { traceparent } from "./traceparent.ts";
import { viewerAccess } from "./viewer_access.ts";

export const TARGETS: readonly Target[] = [
  tokens,
  cookies,
  oauthCallback,
  redirects,
  paths,
  argumentKeys,
  pageCache,
  pathScopes,
  revalidation,
  queryString,
  rpcHTTP,
  rpcSocket,
  rpcClient,
  traceparent,
  clientSpans,
  traceImport,
  otlpReceiver,
  viewerAccess,
  stacks,
];
