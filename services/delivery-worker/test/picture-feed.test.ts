import { configurationKey } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { ConfigurationTable } from '../src/configuration-table.js';
import { createPictureFeed } from '../src/picture-feed.js';
import { StringPool } from '../src/string-pool.js';
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
    const feed = createPictureFeed(table, { keys: [] }, { debug: note, info: note, warn: note, error: note });
    feed(recordOf(JSON.stringify(buildRecord({ applicationId: 'x' }))));
    feed(recordOf(JSON.stringify(buildRecord({ revision: 2, endpointUrl: 'none' }))));
    feed(recordOf('{'));
    feed(recordOf(null));
    expect(told).toMatchObject([
      ['a configuration cannot be used', { key: keyOf('acme').toString() }],
      ['a configuration record cannot be read', { key: keyOf('acme').toString(), reason: 'not-json' }],
    ]);
    expect(table.find('acme', REF)).toMatchObject({ revision: 1, applicationId: 'x', eventType: 'PIX_OUT' });
  });
});

describe('a pool of strings', () => {
  it('gives back the text it was given, and remembers no more than it may', () => {
    const pool = new StringPool();
    for (let index = 0; index < 70_000; index += 1) expect(pool.share(`t${index}`)).toBe(`t${index}`);
    expect(pool.size).toBe(65_536);
  });
});
