/**
 * The users' view of a failover in all topologies: Redis has a new master
 * because the old one was demoted or killed.
 *
 * @module
 */

import {
  hasRedisServer,
  needsRedis,
  replicated,
  startRedis,
} from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { CLIENTS } from "./clients.ts";
import {
  eventually,
  promote,
  type RedisPlace,
  startCluster,
  startReplicated,
  startSentinels,
} from "./redis_topology.ts";
import { type KitInUse, pause, SeveralKits, show } from "./several_kits.ts";

const ignore = !hasRedisServer;
const title = (name: string) => needsRedis(name, hasRedisServer);

/** Starts one process for each client. */
const startWithEachClient = (place: RedisPlace) =>
  SeveralKits.start(place, CLIENTS.length, (i) => ({ client: CLIENTS[i]! }));

Deno.test({
  name: title(
    "A temporarily demoted master refuses writes, and no subscription ends and no message is lost",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using redis = await startRedis();
    await using kits = await startWithEachClient({ url: redis.url });
    const { from, figures } = await kits.outlast(async () => {
      // The address of a missing server, so that it keeps its data.
      await redis.send("REPLICAOF", "127.0.0.1", "1");
      await pause(1_000);
      await redis.send("REPLICAOF", "NO", "ONE");
    });
    show("demoted for 1 s", figures);
    kits.checkStatuses({ from }, {
      publish: [200, 503],
      cache: [200],
      limit: [200],
    });
    await kits.check();
  }),
});

Deno.test({
  name: title(
    "A replica that takes over from its master loses no message and no session",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using redis = await startReplicated();
    await using kits = await startWithEachClient({ url: redis.master.url });
    const { from, figures } = await kits.outlast(async () => {
      await redis.switch();
      for (const { proxy } of kits.kits) proxy.target = redis.master.port;
    });
    show("replica takes over", figures);
    kits.checkStatuses({ from }, { cache: [200], limit: [200] });
    await kits.check();
  }),
});

Deno.test({
  name: title(
    "Processes connected to a former master leave it, and see the new master's revocations, values and messages",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using redis = await startReplicated();
    await using kits = await startWithEachClient({ url: redis.master.url });
    await redis.switch();
    for (const { proxy } of kits.kits) proxy.target = redis.master.port;
    // From here on, it receives nothing from the new master.
    await redis.replica.send("REPLICAOF", "127.0.0.1", "1");
    const [first, ...others] = kits.kits as [KitInUse, ...KitInUse[]];
    kits.origin.version = 2;
    await eventually(
      "the invalidation is written",
      async () => (await first.guest.rpc.invalidate.mutate()).success,
    );
    for (const [i] of others.entries()) {
      await eventually(
        "the revocation is written",
        async () =>
          (await first.user.post("/revoke", { name: `user${i + 1}` }))
            .status === 200,
      );
    }
    for (const [i, { user }] of others.entries()) {
      await eventually(
        "the revoked user is signed out",
        async () => (await user.get("/me")).status === 401,
        10_000,
      );
      await eventually(
        "the value is new",
        async () => (await kits.ask(i + 1, "cache")).body.data === "key 2",
        10_000,
      );
    }
    await kits.works({ sessions: false });
    await kits.check();
  }),
});

Deno.test({
  name: title(
    "Sentinels replace a dead master: 503 during the outage, then all works",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using redis = await startSentinels();
    await using kits = await startWithEachClient(redis.place);
    const old = await redis.master();
    // Redis acknowledges a write before its replica has the data.
    await replicated(old);
    const from = performance.now();
    await old.crash();
    kits.use();
    await eventually(
      "there is another master",
      async () => await redis.master() !== old,
    );
    const failover = performance.now() - from;
    const until = await kits.works();
    await kits.rest();
    show("Sentinel failover", { ...kits.summary(from), failover, until });
    kits.checkStatuses({ from }, { cache: [200], limit: [200] });
    await kits.check();
  }),
});

Deno.test({
  name: title(
    "Cluster masters change or are killed: 503 during the outage, then all works",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using cluster = await startCluster({ replicas: true });
    await using kits = await startWithEachClient(cluster.place);
    const names = ["news", "session", "cache", "limits"];
    let from = performance.now();
    kits.use();
    for (const name of names) {
      const replica = await cluster.replicaOf(`{${name}}`);
      await promote(replica);
      await eventually(
        "the replica is the master",
        async () => await cluster.masterOf(`{${name}}`) === replica,
      );
    }
    const changed = await kits.works();
    await kits.rest();
    show("cluster: masters change", { ...kits.summary(from), changed });
    kits.checkStatuses({ from }, { cache: [200], limit: [200] });

    await eventually("each has a replica again", async () => {
      for (const name of names) {
        if (await cluster.replicaOf(`{${name}}`) === undefined) return false;
      }
      return true;
    });
    const old = await cluster.masterOf("{news}");
    await replicated(old);
    from = performance.now();
    await old.crash();
    kits.use();
    await eventually(
      "there is another master",
      async () => await cluster.masterOf("{news}") !== old,
    );
    const failover = performance.now() - from;
    const until = await kits.works();
    await kits.rest();
    show("cluster: master killed", { ...kits.summary(from), failover, until });
    await kits.check();
  }),
});
