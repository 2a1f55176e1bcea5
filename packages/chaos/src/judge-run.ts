import type { Print } from '@webhooks/ledger';
import { check } from './checker/check.js';
import type { Verdict } from './checker/check.js';
import { askTransactions, readConfigurations, readLog, readRedeliveries } from './evidence/read-answers.js';
import { readArrivals } from './evidence/read-arrivals.js';
import { readTopics } from './evidence/read-topics.js';
import { readJournal } from './generator/journal.js';
import type { Storm } from './make-storm.js';
import { untilProjected } from './until-projected.js';
import { RETRY_DELAYS_MS, RETRY_JITTER } from './world/settings.js';
import { TENANTS, planConfigurations } from './world/configurations.js';
import { WORKERS } from './world/workers.js';
import type { World } from './world/world.js';

const TRANSACTIONS = 200;

/** Gathers all evidence, with no worker running and nothing left to project, and checks it. */
export async function judgeRun(
  world: World,
  { journalFile, changes, steps }: Storm & { readonly journalFile: string },
  print: Print,
): Promise<Verdict> {
  const { stack, clientOf, arrivalsFile } = world;
  await Promise.all(WORKERS.map((name) => stack.fleet.stop(name)));
  const behind = await untilProjected(world);
  if (behind > 0) print(`· query-api is still ${behind} records behind: its log is looked at as it is`);
  const clients = TENANTS.map((tenantId) => clientOf(tenantId));
  const sent = readJournal(journalFile);
  return check({
    configurations: planConfigurations(),
    sent,
    arrivals: await readArrivals(arrivalsFile),
    changes,
    steps,
    topics: await readTopics(stack),
    log: await readLog(clients),
    transactions: await askTransactions(clientOf, sent, TRANSACTIONS),
    listed: await readConfigurations(clients),
    redeliveries: await readRedeliveries(clientOf, world.redeliveries),
    schedule: { delaysMs: RETRY_DELAYS_MS, jitter: RETRY_JITTER },
  });
}
