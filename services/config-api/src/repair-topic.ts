import { configurationKey } from '@webhooks/contracts';
import type { ReplaceResult } from './configuration-store.js';
import type { Configuration } from './configuration.js';
import type { PublishConfiguration } from './publish-configuration.js';
import type { LastRecord } from './topic-picture.js';

export interface RepairPorts {
  readonly lastOf: (key: string) => LastRecord | undefined;
  readonly findByKey: (key: string) => Promise<Configuration | undefined>;
  /** All configurations in the order of their keys. */
  readonly page: (afterKey: string, limit: number) => Promise<readonly Configuration[]>;
  readonly replace: (before: Configuration, after: Configuration) => Promise<ReplaceResult>;
  /** See `storeWithin`. */
  readonly confirm: (configuration: Configuration) => Promise<boolean>;
  readonly republish: PublishConfiguration;
  readonly now: () => Date;
}

const PAGE = 500;
/** A younger change may be on its way to the topic. */
const SETTLED_MS = 5_000;

/** What the topic says of a configuration, compared with the document, which is the truth. */
type Difference = 'none' | 'behind' | 'ahead';

function differenceOf(document: Configuration, last: LastRecord | undefined): Difference {
  if (!last) return 'behind';
  if (last.highest > document.revision) return 'ahead';
  if (last.revision < document.revision) return 'behind';
  const changedAt = document.updatedAt.getTime();
  return last.updatedAt === changedAt && last.highestAt === changedAt ? 'none' : 'ahead';
}

/** `failed`: Kafka did not acknowledge, or the document changed meanwhile; to be looked at again. */
export type Repair = 'agrees' | 'repaired' | 'failed';

/** Readers apply only a higher revision, so a document that fell behind its topic (a restored backup) gets one above it. */
async function raise(document: Configuration, above: number, ports: RepairPorts): Promise<boolean> {
  const raised = { ...document, revision: above + 1 };
  return (await ports.replace(document, raised)) === 'replaced' && ports.republish(raised);
}

/** Makes the topic's last record of one key say what the document says. */
export async function repairKey(key: string, ports: RepairPorts): Promise<Repair> {
  // In this order: a document is written before it is published, so the document read later can only be newer.
  const last = ports.lastOf(key);
  const document = await ports.findByKey(key);
  if (!document) return 'agrees';
  const difference = differenceOf(document, last);
  if (difference === 'none') return 'agrees';
  const done =
    difference === 'behind'
      ? // Only what a majority has: readers must never be ahead of the database.
        (await ports.confirm(document)) && (await ports.republish(document))
      : await raise(document, last?.highest ?? 0, ports);
  return done ? 'repaired' : 'failed';
}

export interface RepairCount {
  repaired: number;
  failed: number;
}

/** Compares every document with the topic and repairs what differs. */
export async function repairAll(ports: RepairPorts, signal: AbortSignal): Promise<RepairCount> {
  const settledBefore = ports.now().getTime() - SETTLED_MS;
  const count = { repaired: 0, failed: 0 };
  let after = '';
  for (;;) {
    const page = await ports.page(after, PAGE);
    for (const document of page) {
      after = configurationKey(document.tenantId, document.ref);
      if (document.updatedAt.getTime() > settledBefore) continue;
      if (differenceOf(document, ports.lastOf(after)) === 'none') continue;
      const repair = await repairKey(after, ports);
      if (repair !== 'agrees') count[repair] += 1;
    }
    if (page.length < PAGE || signal.aborted) return count;
  }
}
