import { RevisionTable, TOPICS, isCompleteMark, parseConfigurationRecord } from '@webhooks/contracts';
import type { ConfigurationRecord, DeliveryPolicy } from '@webhooks/contracts';
import { AppError } from '@webhooks/http-api';
import { openTableReader } from '@webhooks/kafka';
import type { Kafka, KafkaRecord } from '@webhooks/kafka';
import { addGauge, withDeadline } from '@webhooks/runtime';
import type { Logger, ServiceScope } from '@webhooks/runtime';
import { omitUndefined } from './omit-undefined.js';
import { orderBy } from './order.js';
import { WAIT_MS } from './projection/catch-up.js';

/**
 * The fields of a configuration that redeliveries, lists, statements and alerts need. Only the worker needs the secrets, and the query of
 * the URL, which may have one. A URL of 60 characters takes 90 bytes, so those of a million webhooks take 90 MB.
 */
export interface KnownConfiguration extends Pick<
  ConfigurationRecord,
  'revision' | 'enabled' | 'eventType' | 'applicationId' | 'endpointUrl' | 'updatedAt' | 'alert'
> {
  /** Absent: the defaults apply. */
  readonly policy?: Omit<DeliveryPolicy, 'sealed'>;
}

export type ConfigurationRow = KnownConfiguration & Pick<ConfigurationRecord, 'tenantId' | 'ref'>;

function readRow(record: KafkaRecord, log: Logger): ConfigurationRow | undefined {
  const { key, value, partition, offset } = record;
  if (value === null || isCompleteMark(record)) return undefined;
  const parsed = parseConfigurationRecord(value);
  if (!parsed.ok) {
    const fields = { key: String(key ?? ''), partition, offset, reason: parsed.reason };
    log.error('a configuration record cannot be read', fields);
    return undefined;
  }
  const { tenantId, ref, revision, enabled, eventType, applicationId, endpointUrl } = parsed.configuration;
  const { updatedAt, alert } = parsed.configuration;
  const { sealed, ...open } = parsed.configuration.policy ?? {};
  const policy = Object.keys(open).length > 0 ? open : undefined;
  const shownUrl = endpointUrl.replace(/[?#].*$/s, '');
  const known = { tenantId, ref, revision, enabled, eventType, endpointUrl: shownUrl, updatedAt };
  return { ...known, ...omitUndefined({ applicationId, alert, policy }) };
}

/** Reads the whole topic of configurations in the background and caches the fields of `KnownConfiguration`. */
export function openConfigurations(kafka: Kafka, scope: ServiceScope) {
  const table = new RevisionTable<ConfigurationRow>();
  const reader = openTableReader({
    kafka,
    topic: TOPICS.configurations,
    onRecord: (record) => {
      const row = readRow(record, scope.log);
      if (row) table.apply(row);
    },
    onFatal: scope.fail,
  });
  scope.onClose('configuration reader', () => reader.close());
  const help = 'Configurations known to this instance';
  addGauge(scope.registry, 'query_configurations', help, () => table.size);
  /**
   * Resolves when `known` has every change that was acknowledged before this call. Throws 503 when reading to the end
   * of the topic takes longer than 2 s.
   */
  const upToDate = (): Promise<void> =>
    withDeadline(reader.catchUp(), WAIT_MS, 'the configurations').catch((cause: unknown) => {
      throw new AppError('unavailable', 'the configurations cannot be read now; try again', { cause });
    });
  /** Looks a configuration up without waiting. Jobs use it, because they look up many. Undefined when unknown. */
  const known = (tenantId: string, ref: string): KnownConfiguration | undefined => table.find(tenantId, ref);
  /**
   * Looks a configuration up with every change that was acknowledged before this call. Throws 404 for a ref that the
   * tenant does not have, and 503 while the topic cannot be read to its end.
   */
  const current = async (tenantId: string, ref: string): Promise<KnownConfiguration> => {
    await upToDate();
    const found = known(tenantId, ref);
    if (found === undefined) throw new AppError('not-found', 'there is no webhook with this ref');
    return found;
  };
  /** Returns a tenant's configurations by ref, with every change that was acknowledged before this call; 503 as `current`. */
  const ofTenant = async (tenantId: string): Promise<readonly ConfigurationRow[]> => {
    await upToDate();
    return [...table.rowsOf(tenantId)].sort(orderBy(({ ref }) => ref));
  };
  /** Returns the enabled alert endpoints of a tenant. config-api limits them to 10. */
  const alertEndpointsOf = (tenantId: string) =>
    table.rowsOf(tenantId).flatMap(({ ref, enabled, alert }) => (enabled && alert ? [{ ref, alert }] : []));
  return { upToDate, known, current, ofTenant, alertEndpointsOf, all: () => table.rows() };
}

export type Configurations = ReturnType<typeof openConfigurations>;
