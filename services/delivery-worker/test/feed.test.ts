import { configurationKey } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { ConfigurationTable } from '../src/configurations/table.js';
import { createConfigurationFeed } from '../src/configurations/feed.js';
import { REF, buildRecord } from './builders.js';

describe('the feed of the table', () => {
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

  it('applies what it can read, tells what it cannot with its key, and keeps what is known', () => {
    const table = new ConfigurationTable();
    const told: unknown[] = [];
    const note = (message: string, fields?: unknown): void => void told.push([message, fields]);
    const feed = createConfigurationFeed(
      table,
      { keys: [] },
      { debug: note, info: note, warn: note, error: note },
    );
    feed(recordOf(JSON.stringify(buildRecord({ applicationId: 'x' }))));
    feed(recordOf('{'));
    feed(recordOf(null));
    expect(told).toMatchObject([
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
    const table = new ConfigurationTable();
    const quiet = {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: () => undefined,
    };
    const feed = createConfigurationFeed(table, { keys: [] }, quiet);
    feed(recordOf(JSON.stringify(buildRecord())));
    feed(recordOf(JSON.stringify({ ...buildRecord({ revision: 2 }), ...over })));
    const unreadable = table.find('acme', REF);
    expect(unreadable).toMatchObject({ revision: 2, enabled: true, isUnreadable: true });
    expect(() => unreadable?.signingSecrets(0)).toThrow('cannot be read');
    feed(recordOf(JSON.stringify({ ...buildRecord({ revision: 3, enabled: false }), ...over })));
    expect(table.find('acme', REF)).toMatchObject({ revision: 3, enabled: false });
    expect(table.enabledFor('acme', 'PIX_OUT')).toEqual([]);
    feed(recordOf(JSON.stringify(buildRecord({ revision: 4 }))));
    expect(table.find('acme', REF)?.isUnreadable).toBeUndefined();
    expect(table.enabledFor('acme', 'PIX_OUT')).toHaveLength(1);
  });
});
