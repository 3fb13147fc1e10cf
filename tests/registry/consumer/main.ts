/**
 * A project that has added the package. Each entry point has a file named after
 * it, which uses it and prints the result. Redis is used only if its address is
 * passed.
 *
 * @module
 */

import "./kit.ts";
import "./app.ts";
import "./auth.ts";
import "./auth_kv.ts";
import "./auth_postgres.ts";
import "./auth_redis.ts";
import "./data.ts";
import "./data_kv.ts";
import "./data_redis.ts";
import "./rpc.ts";
import "./rpc_kv.ts";
import "./rpc_postgres.ts";
import "./rpc_redis.ts";
import "./rpc_client.ts";
import "./rpc_tanstack.ts";
import "./trace.ts";
import "./trace_client.ts";
import "./trace_noop.ts";
import "./trace_testing.ts";
import "./dev.ts";
