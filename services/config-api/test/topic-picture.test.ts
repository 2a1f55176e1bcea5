import { TopicPicture } from '../src/topic-picture.js';

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

const after = (...records: { key: Buffer; value: Buffer | null }[]): TopicPicture => {
  const picture = new TopicPicture();
  for (const one of records) picture.apply(one);
  return picture;
};

describe('the picture of the topic', () => {
  it('holds the last record of a key, not the highest: that is what compaction leaves', () => {
    expect(after(record(1), record(3), record(2)).lastOf(KEY)).toEqual({
      revision: 2,
      updatedAt: Date.parse(time(2)),
      highest: 3,
      highestAt: Date.parse(time(3)),
    });
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
    ['a doubt about what cannot be read', [{ key: Buffer.from(KEY), value: Buffer.from('{}') }], [KEY]],
  ])('has %s', (_name, records, doubts) => {
    expect(after(...records).doubts()).toEqual(doubts);
  });

  it('has a doubt until it is settled, and a later one meanwhile stays', () => {
    const picture = after(record(2), record(1));
    const last = picture.lastOf(KEY);
    picture.apply(record(1));
    picture.settle(KEY, last);
    expect(picture.doubts()).toEqual([KEY]);
    picture.settle(KEY, picture.lastOf(KEY));
    expect(picture.doubts()).toEqual([]);
  });
});
