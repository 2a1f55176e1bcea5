import { RecordRefused } from '@webhooks/kafka';
import type { KafkaRecord } from '@webhooks/kafka';
import { createQuarantine } from '../src/quarantine.js';

const RECORD: KafkaRecord = {
  topic: 'payments.events',
  partition: 1,
  offset: 7,
  key: null,
  value: null,
  headers: {},
  timestamp: 0,
  size: 0,
};

/** How often a record is called that fails with this each time: at most a hundred times. */
function callsOf(error: unknown): {
  readonly calls: number;
  readonly kept: readonly string[];
  readonly told: number;
} {
  const kept: string[] = [];
  let told = 0;
  const silent = (): undefined => undefined;
  const giveUp = createQuarantine({
    keep: ({ offset }, fault) => Promise.resolve(kept.push(`${offset} ${fault}`)),
    log: { debug: silent, info: silent, warn: silent, error: () => (told += 1) },
  });
  for (let times = 1; times <= 100; times += 1)
    if (giveUp({ record: RECORD, error, times }) !== undefined) return { calls: times, kept, told };
  return { calls: Infinity, kept, told };
}

describe('a record that cannot be handled', () => {
  it.each([TypeError, RangeError, ReferenceError])(
    'by a fault of our own code is put aside after five calls, and told of',
    (Fault) => {
      const error = new Fault('a bug of ours');
      expect(callsOf(error)).toEqual({ calls: 5, kept: [`7 ${error.name}`], told: 1 });
    },
  );

  it('because Kafka does not take it on is put aside like that, too', () => {
    const error = new RecordRefused(10, 'MESSAGE_TOO_LARGE', 'webhooks.retries.5s');
    expect(callsOf(error)).toEqual({ calls: 5, kept: ['7 RecordRefused'], told: 1 });
  });

  it.each<[string, unknown]>([
    [
      'a topic that we may not write to',
      new RecordRefused(29, 'TOPIC_AUTHORIZATION_FAILED', 'webhooks.attempts'),
    ],
    ['a picture that does not come', new Error('what was waited for did not come in time')],
    ['a stop', new Error('the worker is stopping')],
    ['what is no error', 'TypeError'],
    ['nothing', undefined],
  ])('by %s is called again for ever', (_what, error) => {
    expect(callsOf(error)).toEqual({ calls: Infinity, kept: [], told: 0 });
  });
});
