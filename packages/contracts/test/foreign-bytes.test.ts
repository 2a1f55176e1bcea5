import fc from 'fast-check';
import {
  encodeAttemptPack,
  encodeEvent,
  parseAttemptHistory,
  parseAttemptPack,
  parseConfigurationRecord,
  parseDeliveryTask,
  parseStrictJson,
  readAttemptHistory,
  readEvent,
  readPostedEvent,
  taskHeaders,
} from '../src/index.js';
import { ENTRIES, configuration, fullTask, paid } from './support/sample-messages.js';

const EVENT = encodeEvent({
  ...{ id: 'evt_1', tenantId: 'acme', occurredAt: '2026-11-21T14:03:27.512Z' },
  ...paid,
});

/** Good bytes with a few of them replaced, cut or doubled: near enough to pass the first checks. */
const damaged = (good: Buffer): fc.Arbitrary<Buffer> =>
  fc
    .array(fc.tuple(fc.nat(good.length), fc.nat(8), fc.uint8Array({ maxLength: 8 })), { maxLength: 4 })
    .map((cuts) =>
      cuts.reduce(
        (bytes, [at, length, into]) =>
          Buffer.concat([bytes.subarray(0, at), into, bytes.subarray(at + length)]),
        good,
      ),
    );
const bytesLike = (good: Buffer): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    damaged(good),
    fc.uint8Array(),
    fc.json().map((text) => Buffer.from(text)),
  );

describe('whatever bytes come', () => {
  // Fields that we do not know are read and do not travel on, so the bytes are compared, not the first object.
  it('an event is read or refused with a reason, and its encoded form reads back the same', () => {
    const oneFieldUnknown = Buffer.from(EVENT.toString().replace('chargeAmount', 'hargeAmount'));
    fc.assert(
      fc.property(bytesLike(EVENT), (bytes) => {
        const read = readEvent(bytes);
        if (!read.ok) return expect(typeof read.reason).toBe('string');
        const encoded = encodeEvent(read.event);
        const again = readEvent(encoded);
        expect(again.ok && encodeEvent(again.event)).toEqual(encoded);
      }),
      { examples: [[oneFieldUnknown]] },
    );
  });

  it('a posted value is read or refused', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => expect(typeof readPostedEvent(value).ok).toBe('boolean')),
    );
  });

  it('strict JSON is what JSON.parse gives, or a fault; it takes nothing that JSON.parse does not', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string({ unit: 'binary' }), damaged(EVENT).map(String)), (text) => {
        const parsed = parseStrictJson(text);
        if (parsed.ok) expect(parsed.value).toEqual(JSON.parse(text));
      }),
    );
  });

  it('a pack of attempts is read or refused, and what was read is read again without damage', () => {
    fc.assert(
      fc.property(bytesLike(encodeAttemptPack(ENTRIES)), (bytes) => {
        const parsed = parseAttemptPack(bytes);
        if (!parsed.ok) return;
        const again = parseAttemptPack(encodeAttemptPack(parsed.records));
        expect(again).toMatchObject({ ok: true, damaged: 0 });
      }),
    );
  });

  it('a configuration is read or refused with a reason', () => {
    fc.assert(
      fc.property(bytesLike(Buffer.from(JSON.stringify(configuration))), (bytes) => {
        const parsed = parseConfigurationRecord(bytes);
        expect(parsed.ok ? parsed.configuration.tenantId : parsed.reason).toEqual(expect.any(String));
      }),
    );
  });

  it('a task is read or refused, and what was read has the same headers again', () => {
    const good = taskHeaders(fullTask);
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom('', '-1', '0', '1e3', '99999999999999999999', 'NaN', 'evt_1', '{}'),
    );
    const over = fc.dictionary(fc.constantFrom(...Object.keys(good)), fc.option(value, { nil: undefined }), {
      maxKeys: 3,
    });
    fc.assert(
      fc.property(over, fc.uint8Array(), (changes, body) => {
        const parsed = parseDeliveryTask({ ...good, ...changes }, Buffer.from(body));
        if (parsed.ok) expect(parseDeliveryTask(taskHeaders(parsed.task), parsed.task.body)).toEqual(parsed);
      }),
    );
  });

  it('a history of attempts is read as far as it can be', () => {
    const text = fc.oneof(fc.string(), damaged(Buffer.from(fullTask.history ?? '')).map(String));
    fc.assert(fc.property(text, (given) => parseAttemptHistory(readAttemptHistory(given)).length >= 0));
  });
});
