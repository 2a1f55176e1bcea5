import type { Pass } from '../../src/gate/gate-types.js';
import { FAILED, OK, knockOften, later, openGateRig } from './gate-rig.js';

const isWaiting = (verdict: unknown): boolean => verdict instanceof Promise;

describe('the gate of one endpoint', () => {
  it('lets as many in as the cap says, and the next one when one leaves', async () => {
    const { gate, pass, knock } = openGateRig();
    const passes = [pass(), pass(), pass(), pass()];
    const fifth = knock();
    expect(isWaiting(fifth)).toBe(true);
    gate.leave(passes[0] as Pass, OK);
    expect(await fifth).toMatchObject({ kind: 'pass' });
    expect(gate.stats()).toMatchObject({ busy: 4, queued: 0 });
  });

  it('serves the queue first come, first served, whoever comes', async () => {
    const { gate, pass, knock } = openGateRig({ endpointConcurrency: 1 });
    const first = pass();
    const order: string[] = [];
    const second = Promise.resolve(knock()).then((verdict) => order.push('second') && verdict);
    const third = Promise.resolve(knock()).then((verdict) => order.push('third') && verdict);
    gate.leave(first, OK);
    gate.leave((await second) as Pass, OK);
    await third;
    expect(order).toEqual(['second', 'third']);
  });

  it('parks at once what comes for an endpoint that ends no attempt for a second, and what is queued for it', async () => {
    const { gate, pass, knock, advance } = openGateRig({ endpointConcurrency: 1 });
    pass();
    const queued = knock();
    advance(1_001);
    expect(later(knock()).reason).toBe('busy');
    gate.sweep();
    expect(await queued).toMatchObject({ kind: 'later', reason: 'busy' });
    expect(gate.stats()).toMatchObject({ busy: 1, queued: 0 });
  });

  it('parks what would wait more than two seconds at the pace the endpoint has shown', () => {
    const { gate, pass, knock } = openGateRig({ endpointConcurrency: 1 });
    gate.leave(pass(), { kind: 'succeeded', durationMs: 900 });
    pass();
    expect([knock(), knock()].map(isWaiting)).toEqual([true, true]);
    expect(later(knock()).reason).toBe('busy');
  });

  it('lets nobody wait in memory for more than two seconds, even if the endpoint answers', async () => {
    const { gate, pass, knock, advance } = openGateRig({ endpointConcurrency: 2 });
    let busy = pass();
    const other = pass();
    const queued = Array.from({ length: 5 }, () => Promise.resolve(knock()));
    for (let round = 0; round < 3; round += 1) {
      advance(900);
      gate.leave(busy, OK);
      busy = (await queued[round]) as Pass;
      gate.sweep();
    }
    expect(await Promise.all(queued.slice(3))).toMatchObject([{ kind: 'later' }, { kind: 'later' }]);
    gate.leave(other, OK);
  });

  it('keeps an eighth of the slots from those that waited in Kafka, and gives them one turn in eight', async () => {
    const { gate, pass, knock } = openGateRig({ endpointConcurrency: 8 });
    const passes = Array.from({ length: 7 }, () => pass({ waited: true }));
    const eighth = knock({ waited: true });
    expect(isWaiting(eighth)).toBe(true);
    // One slot is free for a first attempt, though one that waited stands in the queue.
    pass();
    const live = Array.from({ length: 20 }, () => knock());
    expect(live.every(isWaiting)).toBe(true);
    for (const given of passes) gate.leave(given, OK);
    for (let next = 0; next < 8; next += 1) {
      const first = await Promise.race([eighth, live[next]]);
      if ((first as Pass).waited) return;
      gate.leave(first as Pass, OK);
    }
    throw new Error('the one that has waited never had its turn');
  });
});

describe('the breaker at the gate', () => {
  it('parks live deliveries at once until a probe is due, and the queue when it opens', async () => {
    const { gate, pass, knock, breakDown } = openGateRig({ endpointConcurrency: 1 });
    for (let count = 0; count < 9; count += 1) gate.leave(pass(), FAILED);
    const tenth = pass();
    const queued = knock();
    gate.leave(tenth, FAILED);
    expect(await queued).toMatchObject({ kind: 'later', reason: 'breaker' });
    expect(later(knock()).waitMs).toBeGreaterThanOrEqual(30_000);
    expect(gate.stats()).toMatchObject({ open: 1, busy: 0, queued: 0 });
    expect(breakDown).toThrow('not let in at once');
  });

  it('lets one parked delivery probe when it is due, a live one 2 s later, and opens with a success', () => {
    const { gate, pass, knock, advance, breakDown } = openGateRig();
    breakDown();
    advance(30_000);
    expect(later(knock()).reason).toBe('breaker');
    const probe = pass({ waited: true });
    expect(later(knock({ waited: true })).reason).toBe('breaker');
    gate.leave(probe, FAILED);
    advance(60_000 + 2_000);
    gate.leave(pass(), OK);
    expect(gate.stats()).toMatchObject({ open: 0, probing: 0 });
    pass();
  });

  it('brings back what has been attempted before any first attempt, however many of those are parked', () => {
    const { knock, breakDown } = openGateRig();
    breakDown();
    const first = Array.from({ length: 1_000 }, () => later(knock()).waitMs);
    const retries = Array.from({ length: 10 }, () => later(knock({ attempt: 2 })).waitMs);
    expect(retries[0]).toBe(30_000);
    expect(Math.min(...first)).toBeGreaterThan(Math.max(...retries));
  });

  it('lets another one probe when the first could not be made', () => {
    const { gate, pass, advance, breakDown } = openGateRig();
    breakDown();
    advance(30_000);
    gate.leave(pass({ waited: true }), { kind: 'unmade' });
    pass({ waited: true });
  });

  it('lets the last attempt of a delivery pass whatever it says', () => {
    const { knock, pass, breakDown } = openGateRig();
    breakDown();
    expect(later(knock({ waited: true })).reason).toBe('breaker');
    expect(pass({ waited: true, last: true })).toMatchObject({ probe: undefined });
  });

  it('leaves a last attempt in the queue when it opens, and starts it as soon as there is a slot', async () => {
    const { gate, pass, knock } = openGateRig({ endpointConcurrency: 1 });
    for (let count = 0; count < 9; count += 1) gate.leave(pass(), FAILED);
    const tenth = pass();
    const [plain, last] = [knock({ waited: true }), knock({ waited: true, last: true, parkedCount: 200 })];
    gate.leave(tenth, FAILED);
    expect(await plain).toMatchObject({ kind: 'later', reason: 'breaker' });
    expect(await last).toMatchObject({ kind: 'pass', probe: undefined });
    expect(gate.stats()).toMatchObject({ open: 1, busy: 1, queued: 0 });
  });

  it('begins anew for a changed URL, and learns nothing more from attempts at the old one', () => {
    const { gate, pass, knock, breakDown } = openGateRig();
    const old = pass();
    breakDown();
    expect(later(knock()).reason).toBe('breaker');
    const fresh = pass({ url: '/new' });
    for (let count = 0; count < 9; count += 1) gate.leave(pass({ url: '/new' }), FAILED);
    gate.leave(old, FAILED);
    gate.leave(fresh, OK);
    expect(gate.unhealthy(10)).toEqual([]);
  });

  it('tells which endpoints fail, since when, how, and when they are probed', () => {
    const { gate, pass, breakDown, advance } = openGateRig();
    breakDown({ ref: 'dead' });
    advance(10_000);
    gate.leave(pass({ ref: 'shaky', tenantId: 'globex' }), FAILED);
    gate.leave(pass({ ref: 'fine' }), OK);
    const [dead, shaky, ...rest] = gate.unhealthy(10);
    expect(rest).toEqual([]);
    expect(dead).toMatchObject({
      tenantId: 'acme',
      ref: 'dead',
      state: 'open',
      failuresInARow: 10,
      lastFailure: '5xx',
      probeInMs: 20_000,
    });
    expect(shaky).toMatchObject({ tenantId: 'globex', ref: 'shaky', state: 'closed', failuresInARow: 1 });
    expect(gate.unhealthy(1)).toHaveLength(1);
  });
});

describe('the room before the gate', () => {
  it('is free until twice the limit of first attempts is queued, and tells when it is free again', async () => {
    const { gate, pass, knock } = openGateRig({ endpointConcurrency: 1, queueLimit: 2 });
    let told = 0;
    gate.room.onFree(() => (told += 1));
    const first = pass();
    const queued = Array.from({ length: 3 }, () => knock());
    queued.push(knock({ waited: true }));
    expect(gate.room.isFree).toBe(true);
    queued.push(knock());
    expect(gate.room.isFree).toBe(false);
    expect(told).toBe(0);
    gate.leave(first, OK);
    expect([gate.room.isFree, told]).toEqual([true, 1]);
    gate.leave((await queued[0]) as Pass, OK);
    expect(told).toBe(1);
    gate.note(true);
    gate.sweep();
    expect(gate.room.isFree).toBe(false);
  });

  it.each([
    [10, 100],
    [200, 50],
  ])(
    'is left to an endpoint that empties it soon: attempts of %d ms fill %d places',
    (durationMs, places) => {
      const rig = openGateRig({ endpointConcurrency: 10, queueLimit: 50 });
      for (let count = 0; count < 48; count += 1)
        rig.gate.leave(rig.pass(), { kind: 'succeeded', durationMs });
      const [first] = Array.from({ length: 10 }, () => rig.pass());
      rig.advance(900);
      rig.gate.leave(first as Pass, { kind: 'succeeded', durationMs });
      rig.pass();
      rig.advance(900);
      expect(knockOften(rig, 100, {}).filter(isWaiting)).toHaveLength(places);
    },
  );

  it('stays free of the queues of slow endpoints, unless it is CPU time that is missing', () => {
    const { gate, pass, knock, advance } = openGateRig({ endpointConcurrency: 2, queueLimit: 4 });
    gate.leave(pass(), { kind: 'succeeded', durationMs: 200 });
    const slow = pass();
    pass();
    advance(900);
    gate.leave(slow, { kind: 'succeeded', durationMs: 20 });
    advance(900);
    const crowd = Array.from({ length: 20 }, () => knock());
    expect(crowd.filter(isWaiting).length).toBeLessThan(8);
    expect(gate.room.isFree).toBe(true);
    expect(later(knock()).reason).toBe('busy');
    gate.note(true);
    gate.sweep();
    expect(isWaiting(knock())).toBe(true);
  });
});
