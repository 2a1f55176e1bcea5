import { EVENT_TYPES, readEvent } from '@webhooks/contracts';
import { buildEvent, createRandom, randomName } from '../src/index.js';

/** The strict form, which generators and samples use. */
const STRICT =
  /^[ED][0-9A-Z]{8}\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[a-zA-Z0-9]{11}$/;

describe('buildEvent', () => {
  it.each(EVENT_TYPES)('builds %s events that the contract accepts, with strict identifiers', (eventType) => {
    const random = createRandom(7);
    for (let i = 0; i < 200; i += 1) {
      const event = buildEvent({ eventType }, random);
      expect(readEvent(Buffer.from(JSON.stringify(event)))).toMatchObject({ ok: true });
      expect(event.eventType).toBe(eventType);
      expect(event.data.endToEndId).toMatch(STRICT);
      if (event.eventType === 'PIX_REVERSAL') expect(event.data.rtrId).toMatch(STRICT);
    }
  });

  it('builds the same events from the same seed and time, and others from another seed', () => {
    const occurredAt = '2026-11-21T14:03:27.512Z';
    const build = (seed: number) => buildEvent({ occurredAt }, createRandom(seed));
    expect(build(1)).toEqual(build(1));
    expect(build(1)).not.toEqual(build(2));
  });

  it('never describes the same fact twice without a seed', () => {
    const ids = new Set(Array.from({ length: 500 }, () => buildEvent().id));
    expect(ids.size).toBe(500);
  });

  it('takes what is given', () => {
    const event = buildEvent({
      eventType: 'PIX_OUT',
      id: 'evt_1',
      tenantId: 'other',
      data: { amount: '1.00', status: 'REALIZADO' },
    });
    expect(event).toMatchObject({ id: 'evt_1', tenantId: 'other', data: { amount: '1.00' } });
  });
});

describe('createRandom', () => {
  it('stays within its bounds', () => {
    const random = createRandom(3);
    const drawn = Array.from({ length: 2_000 }, () => random.int(1, 6));
    expect(new Set(drawn)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    expect(random.text(40)).toMatch(/^[A-Za-z0-9]{40}$/);
  });
});

describe('randomName', () => {
  it('is different each time and keeps the prefix', () => {
    expect(randomName('events')).toMatch(/^events-[0-9a-f]{12}$/);
    expect(randomName('events')).not.toBe(randomName('events'));
  });
});
