import { setTimeout as delay } from 'node:timers/promises';
import { openReceipts } from '@webhooks/ledger';
import { isSuccess } from './checker/fate.js';
import { findToggles, promisedFor } from './checker/owed.js';
import { readJournal } from './generator/journal.js';
import type { Change } from './generator/changes.js';
import { planConfigurations } from './world/configurations.js';
import { countOpen, readCopies } from './evidence/read-topics.js';
import type { TopicEvidence } from './evidence/evidence.js';
import { untilBrokerAnswers } from './world/until-broker-answers.js';
import type { World } from './world/world.js';

export interface Drained {
  readonly journalFile: string;
  readonly changes: readonly Change[];
}

const DEADLINE_MS = 120_000;
const LOOK_MS = 500;

const pairKey = (id: string, path: string): string => `${id} ${path}`;

/** Everything that steady endpoints are owed for sure, as `event path`. */
function findOwed({ journalFile, changes }: Drained, onTopic: TopicEvidence['copies']): Set<string> {
  const toggles = findToggles(changes);
  const configurations = planConfigurations().filter(
    ({ receiver, treatment }) => receiver === 'steady' && treatment !== 'moved',
  );
  const owed = new Set<string>();
  for (const sent of readJournal(journalFile).values()) {
    const copies = onTopic.get(sent.event.id) ?? [];
    for (const configuration of configurations) {
      const { tenantId, eventType, path } = configuration;
      if (sent.event.tenantId !== tenantId || sent.event.eventType !== eventType) continue;
      if (promisedFor({ sent, configuration, copies }, toggles) === 'owed')
        owed.add(pairKey(sent.event.id, path));
    }
  }
  return owed;
}

/** Follows the receivers' file: what is owed gets less. */
function followArrivals(file: string, owed: Set<string>) {
  const receipts = openReceipts(file);
  let lastAt = 0;
  const look = (): void => {
    for (const { id, path, status, receivedAt } of receipts.next())
      if (isSuccess({ status }) && owed.delete(pairKey(id, path))) lastAt = Math.max(lastAt, receivedAt);
  };
  return { look, lastAt: () => lastAt, close: receipts.close };
}

/**
 * Waits until everything that was owed to healthy endpoints is there, or until the workers have handled all there is, for two
 * minutes at most. Resolves with the moment of the last arrival that was waited for, Unix milliseconds.
 */
export async function untilDrained(world: World, drained: Drained): Promise<number> {
  const owed = findOwed(drained, await untilBrokerAnswers(() => readCopies(world.stack)));
  const arrivals = followArrivals(world.arrivalsFile, owed);
  const deadline = performance.now() + DEADLINE_MS;
  const isDone = async (): Promise<boolean> => {
    arrivals.look();
    return (
      owed.size === 0 ||
      performance.now() > deadline ||
      (await untilBrokerAnswers(() => countOpen(world.stack))) === 0
    );
  };
  try {
    while (!(await isDone())) await delay(LOOK_MS);
    return arrivals.lastAt();
  } finally {
    arrivals.close();
  }
}
