import { configurationKey } from '@webhooks/contracts';
import { settleAll } from '@webhooks/runtime';
import type { ConfigurationCache, ConfigurationName, TopicState } from './configuration-cache.js';
import { PAGE } from '../store/configuration-store.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import type { Configuration } from '../webhooks/configuration.js';
import type { PublishConfiguration } from './publish-configuration.js';

export interface RepairPorts extends Pick<ConfigurationStore, 'findByRef' | 'page' | 'replace' | 'confirm'> {
  readonly topicState: Pick<ConfigurationCache, 'stateOf'>;
  readonly republish: PublishConfiguration;
  readonly now: () => Date;
  /** Called for each configuration that was published again. */
  readonly noteRepair: () => void;
}

/** Repairs at once. The database has 50 connections, and requests need some. */
const SIDE_BY_SIDE = 32;
/** A change younger than this may still be published by its request. */
const SETTLED_MS = 5_000;

/** How the topic differs from the document. The document is authoritative. */
type Difference = 'none' | 'behind' | 'ahead';

function differenceOf(document: Configuration, state: TopicState | undefined): Difference {
  if (!state) return 'behind';
  const { last, applied } = state;
  if (applied.revision > document.revision) return 'ahead';
  if (last.revision < document.revision) return 'behind';
  const changedAt = document.updatedAt.getTime();
  return last.updatedAt === changedAt && applied.updatedAt === changedAt ? 'none' : 'ahead';
}

/**
 * Raises the revision of a document above that of the topic, and publishes it. A document is behind its topic after the
 * restore of a backup, and readers apply only a higher revision.
 */
async function raise(document: Configuration, above: number, ports: RepairPorts): Promise<boolean> {
  const raised = { ...document, revision: above + 1 };
  return (await ports.replace(document, raised)) === 'replaced' && ports.republish(raised);
}

/**
 * Publishes one document again if the topic differs from it. Resolves with false when this must be tried again: Kafka
 * did not acknowledge, or the document has changed.
 */
export async function repairOne({ tenantId, ref }: ConfigurationName, ports: RepairPorts): Promise<boolean> {
  // The topic is read before the document: a document is written before it is published, so it can only be newer.
  const state = ports.topicState.stateOf({ tenantId, ref });
  const document = await ports.findByRef(tenantId, ref);
  if (!document) return true;
  const difference = differenceOf(document, state);
  if (difference === 'none') return true;
  const isRepaired =
    difference === 'behind'
      ? // Only a revision that a majority has: readers must never be ahead of the database.
        (await ports.confirm(document)) && (await ports.republish(document))
      : await raise(document, state?.applied.revision ?? 0, ports);
  if (isRepaired) ports.noteRepair();
  return isRepaired;
}

/**
 * Compares every document with the topic and repairs differences. Resolves with true when no difference is left.
 */
export async function repairAll(ports: RepairPorts, signal: AbortSignal): Promise<boolean> {
  const now = ports.now().getTime();
  let isDone = true;
  let after = '';
  for (;;) {
    const page = await ports.page(after, PAGE);
    const repair = async (document: Configuration): Promise<void> => {
      if (differenceOf(document, ports.topicState.stateOf(document)) === 'none') return;
      const isSettled = Math.abs(now - document.updatedAt.getTime()) >= SETTLED_MS;
      if (!isSettled || !(await repairOne(document, ports))) isDone = false;
    };
    for (let at = 0; at < page.length; at += SIDE_BY_SIDE)
      await settleAll(page.slice(at, at + SIDE_BY_SIDE).map(repair));
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return isDone;
    after = configurationKey(last.tenantId, last.ref);
    if (signal.aborted) return false;
  }
}
