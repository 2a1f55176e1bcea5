import { setTimeout as delay } from 'node:timers/promises';
import { check } from './checker/check.js';
import type { Verdict } from './checker/check.js';
import type { Evidence } from './evidence/evidence.js';
import { askTransactions, readConfigurations, readLog } from './evidence/read-answers.js';
import { readArrivals } from './evidence/read-arrivals.js';
import { readTopics } from './evidence/read-topics.js';
import { readJournal } from './generator/journal.js';
import type { Storm } from './run-chaos.js';
import { RETRY_DELAYS_MS, RETRY_JITTER } from './world/settings.js';
import { TENANTS, planConfigurations } from './world/configurations.js';
import { WORKERS } from './world/workers.js';
import type { World } from './world/world.js';

/** Query-api projects what it has not read yet; then its log has to agree. */
const LOG_DEADLINE_MS = 60_000;
const LOOK_MS = 2_000;
const TRANSACTIONS = 200;

const isOfLog = ({ kind }: Verdict['findings'][number]): boolean => kind === 'wrong-log';

/** Gathers all evidence, with no worker running, and checks it. A log that lags is asked again for a minute. */
export async function judgeRun(
  world: World,
  { journalFile, changes, steps }: Storm & { readonly journalFile: string },
): Promise<Verdict> {
  const { stack, clientOf, arrivalsFile } = world;
  await Promise.all(WORKERS.map((name) => stack.fleet.stop(name)));
  const clients = TENANTS.map((tenantId) => clientOf(tenantId));
  const sent = readJournal(journalFile);
  const seen: Omit<Evidence, 'log'> = {
    configurations: planConfigurations(),
    sent,
    arrivals: await readArrivals(arrivalsFile),
    changes,
    steps,
    topics: await readTopics(stack),
    transactions: await askTransactions(clientOf, sent, TRANSACTIONS),
    listed: await readConfigurations(clients),
    schedule: { delaysMs: RETRY_DELAYS_MS, jitter: RETRY_JITTER },
  };
  const deadline = performance.now() + LOG_DEADLINE_MS;
  for (;;) {
    const verdict = check({ ...seen, log: await readLog(clients) });
    if (!verdict.findings.some(isOfLog) || performance.now() > deadline) return verdict;
    await delay(LOOK_MS);
  }
}
