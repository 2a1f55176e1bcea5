import { TOPICS } from '@webhooks/contracts';
import { AppError } from '@webhooks/http-api';
import { openTableReader } from '@webhooks/kafka';
import type { Kafka } from '@webhooks/kafka';
import { Gauge } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { CatchUp } from '../projection/catch-up.js';
import { KnownConfigurations } from './known-configurations.js';
import type { KnownConfiguration } from './known-configurations.js';

export interface Configurations {
  /** What is known now; in a job that looks at many, nobody waits for each. */
  known(tenantId: string, ref: string): KnownConfiguration | undefined;
  /**
   * What every change that was answered before this call has made of it. Throws 404 for a ref that the tenant does not
   * have, and 503 while the topic cannot be read to its end.
   */
  current(tenantId: string, ref: string): Promise<KnownConfiguration>;
  /** Resolves when `known` has every change that was answered before this call; throws 503 when that takes too long. */
  upToDate(): Promise<void>;
}

/** Reads the topic of the configurations whole, in the background, and keeps what a redelivery has to know. */
export async function openConfigurations(kafka: Kafka, scope: ServiceScope): Promise<Configurations> {
  const table = new KnownConfigurations(scope.log);
  const reader = await openTableReader({
    kafka,
    topic: TOPICS.configurations,
    onRecord: (record) => table.apply(record),
    onFatal: scope.fail,
  });
  scope.onClose('configuration reader', () => reader.close());
  const catchUp = new CatchUp({
    positions: {
      passed: (ends) => reader.passed(ends),
      needsOthers: () => false,
      readOthers: () => Promise.resolve(),
    },
    fetchEnds: (deadlineMs) => reader.fetchEnds({ deadlineMs }),
    onFault: (error) =>
      scope.log.debug('the configurations were waited for in vain', { error: String(error) }),
  });
  new Gauge({
    name: 'query_configurations',
    help: 'Configurations known to this instance',
    registers: [scope.registry],
    collect() {
      this.set(table.size);
    },
  });
  const upToDate = async (): Promise<void> => {
    if ((await catchUp.wait()) === 'passed') return;
    throw new AppError('unavailable', 'the configurations cannot be read now; try again', {
      headers: { 'retry-after': '1' },
    });
  };
  return {
    upToDate,
    known: (tenantId, ref) => table.find(tenantId, ref),
    current: async (tenantId, ref) => {
      await upToDate();
      const found = table.find(tenantId, ref);
      if (found === undefined) throw new AppError('not-found', 'there is no webhook with this ref');
      return found;
    },
  };
}
