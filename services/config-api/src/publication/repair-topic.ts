import { configurationKey } from '@webhooks/contracts';
import type { ConfigurationCache, ConfigurationName, TopicState } from './configuration-cache.js';
import { PAGE } from '../store/configuration-store.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import type { Configuration } from '../webhooks/configuration.js';
import type { PublishConfiguration } from './publish-configuration.js';

export interface RepairPorts extends Pick<ConfigurationStore, 'findByRef' | 'page' | 'replace' | 'confirm'> {
  readonly onTopic: Pick<ConfigurationCache, 'stateOf'>;
  readonly republish: PublishConfiguration;
  readonly now: () => Date;
  /** Called for each configuration that was published again. */
  readonly noteRepair: () => void;
}

/** Changes younger than this may be on their way to the topic. */
const SETTLED_MS = 5_000;

/** How the topic differs from the document, which is the truth. */
type Difference = 'none' | 'behind' | 'ahead';

function differenceOf(document: Configuration, state: TopicState | undefined): Difference {
  if (!state) return 'behind';
  const { last, kept } = state;
  if (kept.revision > document.revision) return 'ahead';
  if (last.revision < document.revision) return 'behind';
  const changedAt = document.updatedAt.getTime();
  return last.updatedAt === changedAt && kept.updatedAt === changedAt ? 'none' : 'ahead';
}

/**
 * Readers apply only a higher revision. So a document behind its topic, as after a restored backup, gets a revision
 * above it.
 */
async function raise(document: Configuration, above: number, ports: RepairPorts): Promise<boolean> {
  const raised = { ...document, revision: above + 1 };
  return (await ports.replace(document, raised)) === 'replaced' && ports.republish(raised);
}

/**
 * Makes the topic's last record of one configuration equal to the document. Resolves with false when it must be tried
 * again: Kafka did not acknowledge, or the document changed.
 */
export async function repairOne({ tenantId, ref }: ConfigurationName, ports: RepairPorts): Promise<boolean> {
  // The topic first: a document is written before it is published, so a document that is read later can only be
  // newer.
  const state = ports.onTopic.stateOf({ tenantId, ref });
  const document = await ports.findByRef(tenantId, ref);
  if (!document) return true;
  const difference = differenceOf(document, state);
  if (difference === 'none') return true;
  const isRepaired =
    difference === 'behind'
      ? // Only what a majority has: readers must never be ahead of the database.
        (await ports.confirm(document)) && (await ports.republish(document))
      : await raise(document, state?.kept.revision ?? 0, ports);
  if (isRepaired) ports.noteRepair();
  return isRepaired;
}

/**
 * Compares every document with the topic and repairs differences. Resolves with whether nothing is left to repair.
 */
export async function repairAll(ports: RepairPorts, signal: AbortSignal): Promise<boolean> {
  const settledBefore = ports.now().getTime() - SETTLED_MS;
  let isDone = true;
  let after = '';
  for (;;) {
    const page = await ports.page(after, PAGE);
    for (const document of page) {
      after = configurationKey(document.tenantId, document.ref);
      if (differenceOf(document, ports.onTopic.stateOf(document)) === 'none') continue;
      const isSettled = document.updatedAt.getTime() <= settledBefore;
      if (!isSettled || !(await repairOne(document, ports))) isDone = false;
    }
    if (page.length < PAGE) return isDone;
    if (signal.aborted) return false;
  }
}
