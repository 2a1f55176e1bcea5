import { configurationKey } from '@webhooks/contracts';
import { ConfigurationCache } from '../../src/publication/configuration-cache.js';

const REF = '0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f';
const KEY = `acme/${REF}`;
const time = (second: number): string => `2026-11-21T14:03:${String(second).padStart(2, '0')}.000Z`;

const record = (revision: number, second = revision) => ({
  key: Buffer.from(KEY),
  value: Buffer.from(
    JSON.stringify({
      ...{ v: 1, tenantId: 'acme', ref: REF, revision, eventType: 'PIX_OUT', enabled: true },
      ...{ endpointUrl: 'https://hook.acme.com.br/', createdAt: time(0), updatedAt: time(second) },
    }),
  ),
});

const removed = { key: Buffer.from(KEY), value: null };

const garbage = { key: Buffer.from(KEY), value: Buffer.from('{}') };

/** As a newer version writes it, for an event type that is not known here. */
const newer = (revision: number) => {
  const { key, value } = record(revision);
  return { key, value: Buffer.from(String(value).replace('PIX_OUT', 'PIX_NEW')) };
};

const after = (...records: { key: Buffer; value: Buffer | null }[]): ConfigurationCache => {
  const cache = new ConfigurationCache();
  for (const one of records) cache.apply(one);
  return cache;
};
const keysOf = (cache: ConfigurationCache): string[] =>
  cache.divergences().map(({ tenantId, ref }) => configurationKey(tenantId, ref));

describe('the configuration cache', () => {
  const name = { tenantId: 'acme', ref: REF };
  const at = (revision: number, second = revision) => ({
    ...name,
    revision,
    updatedAt: revision === 0 ? 0 : Date.parse(time(second)),
  });

  it.each([
    ['the one record', [record(1)], at(1), at(1)],
    [
      'the last record, which compaction leaves, and the highest',
      [record(1), record(3), record(2)],
      at(2),
      at(3),
    ],
    ['the first record of a revision, which readers keep', [record(2), record(2, 9)], at(2, 9), at(2)],
    ['what readers keep of a removed one', [record(1), removed], at(0), at(1)],
    ['nothing that could be read', [garbage], at(0), at(0)],
    ['the revision of what only a newer version can read', [record(1), newer(2)], at(2), at(2)],
  ])('has %s', (_name, records, last, applied) => {
    expect(after(...records).stateOf(name)).toMatchObject({ last, applied });
  });

  it('identifies a record by its key, not by its value', () => {
    const stray = { ...record(9), key: Buffer.from(`globex/${REF}`) };
    const cache = after(record(1), stray);
    expect(cache.stateOf(name)).toEqual({ last: at(1), applied: at(1) });
    expect(cache.stateOf({ tenantId: 'globex', ref: REF })?.applied.revision).toBe(9);
    expect(cache.size).toBe(2);
  });

  it.each([
    ['no doubt about one record', [record(1)], []],
    ['no doubt about rising revisions', [record(1), record(2)], []],
    ['no doubt about a repeat', [record(2), record(2)], []],
    ['a doubt when an older record is the last', [record(2), record(1)], [KEY]],
    ['no doubt any more when it was published again', [record(2), record(1), record(2)], []],
    ['a doubt about what only ends below the highest', [record(9), record(1), record(2)], [KEY]],
    ['a doubt about what comes below one that was removed', [record(9), removed, record(2)], [KEY]],
    ['a doubt when one revision has two contents', [record(2), record(2, 9)], [KEY]],
    ['that doubt also after a repeat', [record(2), record(2, 9), record(2, 9)], [KEY]],
    ['that doubt also when another one came between', [record(2), record(1), record(2, 9)], [KEY]],
    ['a doubt about a removed record', [record(1), removed], [KEY]],
    ['a doubt about what cannot be read', [garbage], [KEY]],
    ['no doubt about what a newer version wrote', [record(1), newer(2), newer(2)], []],
    ['a doubt about an older one behind it', [newer(2), record(1)], [KEY]],
  ])('has %s', (_name, records, divergences) => {
    expect(keysOf(after(...records))).toEqual(divergences);
  });

  it('keeps a divergence until it is settled, and a later one stays', () => {
    const cache = after(record(2), record(1));
    const [doubt] = cache.divergences();
    cache.apply(record(1));
    if (doubt) doubt.isSettled = true;
    expect(keysOf(cache)).toEqual([KEY]);
    for (const later of cache.divergences()) later.isSettled = true;
    expect(keysOf(cache)).toEqual([]);
    expect(cache.stateOf(name)).toMatchObject({ last: at(1), applied: at(2) });
  });
});
