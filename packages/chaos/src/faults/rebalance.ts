import { setTimeout as delay } from 'node:timers/promises';
import { RETRY_TIERS, TOPICS } from '@webhooks/contracts';
import { NotNow } from '../fault.js';
import type { Fault } from '../fault.js';
import { isBrokerAway } from '../world/unavailable.js';
import { visitGroup } from '../world/visit-group.js';

/** Group of the workers → what its members read. */
const TOPICS_OF: Readonly<Record<string, readonly string[]>> = {
  'delivery-worker.events': [TOPICS.events],
  'delivery-worker.deliveries': [TOPICS.deliveries],
  'delivery-worker.retries': RETRY_TIERS.map(({ topic }) => topic),
};
const STAYS_MS = 1_500;
const AWAY_MS = 1_000;
/** A broker that was hit before is up again by then; else nobody was ever let in. */
const FIRST_VISIT_MS = 30_000;

/** A member comes and goes every few seconds: with each coming and going partitions change hands. */
const rebalance: Fault = {
  name: 'rebalance',
  lane: 'system',
  weight: 1,
  targets: ['delivery-worker.events', 'delivery-worker.deliveries', 'delivery-worker.retries'],
  lasts: [3_000, 30_000],
  alone: true,
  begin: (groupId, { stack }) => {
    let wanted = true;
    const topics = TOPICS_OF[groupId] ?? [];
    const visit = async (): Promise<unknown> => {
      try {
        await visitGroup(stack.description().kafkaBrokers, { groupId, topics, staysMs: STAYS_MS });
        return undefined;
      } catch (error) {
        if (!isBrokerAway(error)) throw error;
        return error;
      }
    };
    const comeAndGo = async (): Promise<void> => {
      const deadline = performance.now() + FIRST_VISIT_MS;
      let hasVisited = false;
      for (;;) {
        const away = await visit();
        hasVisited ||= away === undefined;
        if (hasVisited && !wanted) return;
        if (!hasVisited && performance.now() > deadline)
          throw new NotNow(`the visitor could not stay: ${String(away)}`);
        await delay(AWAY_MS);
      }
    };
    const coming = comeAndGo();
    // Told by the end; until then a failure must not end the process.
    coming.catch(() => undefined);
    return Promise.resolve(async () => {
      wanted = false;
      await coming;
    });
  },
};

export default rebalance;
