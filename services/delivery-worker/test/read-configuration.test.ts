import { configurationKey } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { ConfigurationTable } from '../src/configurations/configuration-cache.js';
import { readConfiguration } from '../src/configurations/configuration.js';
import { buildRecord, REF } from './builders.js';

describe('a configuration record', () => {
  const keyOf = (tenantId: string): Buffer => Buffer.from(configurationKey(tenantId, REF));
  const recordOf = (value: string | null): KafkaRecord => ({
    topic: 'webhooks.configurations',
    partition: 0,
    offset: 1,
    timestamp: 0,
    key: keyOf('acme'),
    value: value === null ? null : Buffer.from(value),
    headers: {},
    size: 1,
  });

  /** Reads records into a table; `logged` is what could not be read. */
  function openFeed() {
    const table = new ConfigurationTable();
    const logged: unknown[] = [];
    const note = (message: string, fields?: unknown): void => void logged.push([message, fields]);
    const log = { debug: note, info: note, warn: note, error: note };
    const feed = (value: string | null): void => {
      const configuration = readConfiguration(recordOf(value), { keys: [] }, log);
      if (configuration) table.apply(configuration);
    };
    return { table, logged, feed };
  }

  it('applies what it can read, logs what it cannot with its key, and keeps what is known', () => {
    const { table, logged, feed } = openFeed();
    feed(JSON.stringify(buildRecord({ applicationId: 'x' })));
    feed('{');
    feed(null);
    expect(logged).toMatchObject([
      ['a configuration record cannot be read', { key: keyOf('acme').toString(), reason: 'not-json' }],
    ]);
    expect(table.find('acme', REF)).toMatchObject({ revision: 1, applicationId: 'x', eventType: 'PIX_OUT' });
  });

  it.each([
    ['a URL of another kind', { endpointUrl: 'none' }],
    ['a URL that is no text', { endpointUrl: { host: 'x' } }],
    ['an event type that is not known', { eventType: 'PIX_NEW' }],
    ['more secrets than are known', { secrets: Array.from({ length: 9 }, () => ({ sealed: 'x' })) }],
  ])('with %s a newer worker may read: disabled holds, enabled defers', (_what, over) => {
    const { table, logged, feed } = openFeed();
    feed(JSON.stringify(buildRecord()));
    feed(JSON.stringify({ ...buildRecord({ revision: 2 }), ...over }));
    const unreadable = table.find('acme', REF);
    expect(unreadable).toMatchObject({ revision: 2, enabled: true, isUnreadable: true });
    expect(() => unreadable?.signingSecrets(0)).toThrow('cannot be read');
    feed(JSON.stringify({ ...buildRecord({ revision: 3, enabled: false }), ...over }));
    expect(table.find('acme', REF)).toMatchObject({ revision: 3, enabled: false });
    expect(table.enabledFor('acme', 'PIX_OUT')).toEqual([]);
    expect(logged).toHaveLength(2);
    feed(JSON.stringify(buildRecord({ revision: 4 })));
    expect(table.find('acme', REF)?.isUnreadable).toBeUndefined();
    expect(table.enabledFor('acme', 'PIX_OUT')).toHaveLength(1);
  });
});
