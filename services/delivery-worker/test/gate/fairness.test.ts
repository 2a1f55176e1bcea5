import { OK, answerOften, knockOften, later, openGateRig } from './gate-rig.js';

const isWaiting = (verdict: unknown): boolean => verdict instanceof Promise;

describe('the gate among endpoints and tenants', () => {
  it('keeps slots for a healthy endpoint while twenty others hang', () => {
    const rig = openGateRig({ endpointConcurrency: 64, queueLimit: 100_000 });
    const { gate, pass } = rig;
    for (let round = 0; round < 20; round += 1) answerOften(rig, { ref: `hanging-${round}` });
    for (let round = 0; round < 20; round += 1) knockOften(rig, 64, { ref: `hanging-${round}` });
    const { busy } = gate.stats();
    expect(busy).toBeGreaterThan(600);
    expect(busy).toBeLessThan(1_024 * 0.9);
    for (let count = 0; count < 10; count += 1) pass({ ref: 'healthy', tenantId: 'globex' });
  });

  it('keeps a third of the slots from one tenant, however many endpoints it has', () => {
    const rig = openGateRig({ endpointConcurrency: 64, queueLimit: 100_000 });
    for (let round = 0; round < 100; round += 1) knockOften(rig, 64, { ref: `of-acme-${round}` });
    expect(rig.gate.stats().busy).toBeGreaterThan(600);
    expect(rig.gate.stats().busy).toBeLessThanOrEqual(683);
  });

  it('makes the one who holds most give way when memory is short, if there are others', async () => {
    const { gate, knock, pass } = openGateRig({ endpointConcurrency: 1, queueLimit: 128 });
    pass({ ref: 'hog' });
    for (const ref of ['b', 'c', 'd']) pass({ ref });
    const small = ['b', 'c', 'd'].map((ref) => knock({ ref }));
    const queued = Array.from({ length: 256 }, () => knock({ ref: 'hog' }));
    expect(gate.stats().queued).toBeLessThan(200);
    const parked = await Promise.race([queued.at(-2), queued.at(100)]);
    expect(parked).toMatchObject({ kind: 'later', reason: 'share' });
    expect(small.every(isWaiting)).toBe(true);
  });

  it('counts who holds something also after breakers have opened of endpoints without a queue', () => {
    const rig = openGateRig({ endpointConcurrency: 1, queueLimit: 128 });
    for (const ref of ['v', 'w', 'x', 'y', 'z']) rig.breakDown({ ref, tenantId: ref });
    for (const ref of ['hog', 'b', 'c', 'd']) rig.pass({ ref });
    knockOften(rig, 256, { ref: 'hog' });
    expect(rig.gate.stats().queued).toBeLessThan(200);
  });

  it('lets one who is alone wait: then it is the source that has to read on later', () => {
    const rig = openGateRig({ endpointConcurrency: 1, queueLimit: 128 });
    knockOften(rig, 513, {});
    expect(rig.gate.stats().queued).toBe(512);
  });

  it('lets all wait who hold about the same', () => {
    const rig = openGateRig({ endpointConcurrency: 1, queueLimit: 128 });
    for (let count = 0; count < 100; count += 1)
      for (const ref of ['a', 'b', 'c', 'd', 'e']) knockOften(rig, 1, { ref, tenantId: ref });
    expect(rig.gate.stats().queued).toBe(495);
  });

  it('makes a tenant give way that holds most at many endpoints together', () => {
    const rig = openGateRig({ endpointConcurrency: 1, queueLimit: 128 });
    for (const tenantId of ['t1', 't2', 't3', 't4']) knockOften(rig, 1, { ref: 'own', tenantId });
    for (let count = 0; count < 50; count += 1)
      for (let ref = 0; ref < 10; ref += 1) knockOften(rig, 1, { ref: `hot-${ref}`, tenantId: 'hot' });
    expect(rig.gate.stats().queued).toBeLessThan(300);
  });

  it('forgets endpoints that are idle, the healthy ones after a minute', () => {
    const { gate, pass, advance, breakDown } = openGateRig();
    gate.leave(pass({ ref: 'fine' }), OK);
    breakDown({ ref: 'dead' });
    pass({ ref: 'busy' });
    const sweep = (): void => {
      gate.sweep();
    };
    advance(61_000);
    sweep();
    expect(gate.stats().lanes).toBe(2);
    advance(3_600_000);
    sweep();
    expect(gate.stats().lanes).toBe(1);
  });

  it('forgets one that fails as soon as it is disabled', () => {
    const disabled = new Set<string>();
    const rig = openGateRig({ isEnabled: (_tenantId, ref) => !disabled.has(ref) });
    for (const ref of ['dead', 'off']) rig.breakDown({ ref });
    rig.gate.sweep();
    disabled.add('off');
    rig.advance(10_001);
    rig.gate.sweep();
    expect(rig.gate.unhealthy(10).map(({ ref }) => ref)).toEqual(['dead']);
    expect(rig.gate.stats()).toMatchObject({ lanes: 1, open: 1 });
  });

  it('leaves room for others when several endpoints end no attempt, though each might still answer', async () => {
    const rig = openGateRig({ endpointConcurrency: 1, queueLimit: 128 });
    const queued = ['a', 'b', 'c'].flatMap((ref) => knockOften(rig, 81, { ref, tenantId: ref }));
    expect(rig.gate.stats().queued).toBe(240);
    for (let count = 0; count < 4; count += 1) {
      rig.advance(50);
      rig.gate.sweep();
    }
    expect(rig.gate.stats().queued).toBe(139);
    expect(await queued[80]).toMatchObject({ kind: 'later', reason: 'busy' });
    const more = knockOften(rig, 40, { ref: 'a', tenantId: 'a' });
    expect(more.filter(isWaiting)).toHaveLength(18);
    expect(isWaiting(queued[1])).toBe(true);
  });

  it('leaves one that was found quiet no more than its share, also when none of those is left that found it so', () => {
    const rig = openGateRig({ endpointConcurrency: 1, queueLimit: 128 });
    const [first] = ['a', 'b', 'c'].map((ref) => rig.pass({ ref, tenantId: ref }));
    for (const ref of ['a', 'b', 'c']) knockOften(rig, 70, { ref, tenantId: ref });
    const sweepOften = (times: number): void => {
      for (let count = 0; count < times; count += 1) {
        rig.advance(50);
        rig.gate.sweep();
      }
    };
    sweepOften(4);
    rig.gate.note(true);
    rig.gate.sweep();
    expect(rig.gate.stats().queued).toBeLessThanOrEqual(64);
    const more = (): number => knockOften(rig, 40, { ref: 'a', tenantId: 'a' }).filter(isWaiting).length;
    expect(more()).toBeLessThan(40);
    sweepOften(1);
    expect(more()).toBeLessThan(5);
    if (first) rig.gate.leave(first, OK);
    expect(more()).toBeGreaterThan(20);
  });

  it('takes one for stuck until an attempt of it ends, whatever CPU time there is meanwhile', () => {
    const { gate, pass, knock, advance } = openGateRig({ endpointConcurrency: 1 });
    const first = pass();
    advance(1_100);
    expect(later(knock()).reason).toBe('busy');
    // While no CPU time is left one that has not answered yet is stuck after 1,500 ms only.
    gate.note(true);
    expect(later(knock()).reason).toBe('busy');
    gate.leave(first, OK);
    pass();
    expect(isWaiting(knock())).toBe(true);
  });

  it('takes no endpoint for quiet after a pause of its own, when no answer has been read yet', () => {
    const rig = openGateRig({ endpointConcurrency: 1, queueLimit: 128 });
    rig.gate.sweep();
    for (const ref of ['a', 'b', 'c']) knockOften(rig, 81, { ref, tenantId: ref });
    rig.advance(500);
    rig.gate.sweep();
    expect(rig.gate.stats().queued).toBe(240);
  });

  it.each([
    { took: 10, othersEnd: true, left: 59 },
    { took: 10, othersEnd: false, left: 114 },
    { took: 1_000, othersEnd: true, left: 114 },
  ])(
    'while no CPU time is left, two whose attempts took $took ms keep $left queued after 350 ms without an end, others ending: $othersEnd',
    ({ took, othersEnd, left }) => {
      const rig = openGateRig({ endpointConcurrency: 16, queueLimit: 256 });
      rig.gate.note(true);
      for (const ref of ['a', 'b']) {
        rig.gate.leave(rig.pass({ ref, tenantId: ref }), { kind: 'succeeded', durationMs: took });
        knockOften(rig, 16 + 57, { ref, tenantId: ref });
      }
      for (let count = 0; count < 7; count += 1) {
        rig.advance(50);
        if (othersEnd) rig.gate.leave(rig.pass({ ref: 'c', tenantId: 'c' }), OK);
        rig.gate.sweep();
      }
      expect(rig.gate.stats().queued).toBe(left);
    },
  );

  it('leaves a quiet endpoint its queue when nobody else needs the room', () => {
    const rig = openGateRig({ endpointConcurrency: 1, queueLimit: 128 });
    knockOften(rig, 241, {});
    for (let count = 0; count < 10; count += 1) {
      rig.advance(50);
      rig.gate.sweep();
    }
    expect(rig.gate.stats().queued).toBe(240);
  });
});
