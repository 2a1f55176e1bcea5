import {
  CONFIGURATION,
  REF,
  SECRET,
  arrived,
  at,
  entry,
  event,
  evidence,
  kinds,
  nowhere,
  signedArrival,
} from './evidence-builder.js';

describe('changes of a configuration', () => {
  const changed = (treatment: 'toggled' | 'moved' | 'signed', over: Parameters<typeof evidence>[0]) =>
    evidence({ ...over, configurations: [{ ...CONFIGURATION, treatment }] });
  const disabled = {
    ref: REF,
    requested: { what: 'disable' as const },
    requestedAt: at(1),
    respondedAt: at(1.2),
  };
  const off = [{ ref: REF, enabled: false, path: CONFIGURATION.path }];

  it('not in force: an attempt began later than 1 s after the response that disabled it', () => {
    const late = (seconds: number) =>
      kinds(changed('toggled', { arrivals: [arrived(seconds)], changes: [disabled], listed: off }));
    expect(late(2.1)).toEqual([]);
    expect(late(3.1)).toEqual(['not-in-force']);
  });

  it('not in force: the worker reports an attempt at a disabled endpoint, which no receiver saw', () => {
    const topics = { entries: [entry(0.1), entry(2.3, { result: 'failed', error: 'CONNECT' })] };
    expect(kinds(changed('toggled', { changes: [disabled], listed: off, topics }))).toEqual(['not-in-force']);
  });

  it('a change that was durable and not published yet is not checked', () => {
    const changes = [{ ...disabled, published: false }];
    expect(kinds(changed('toggled', { arrivals: [arrived(9)], changes, listed: off }))).toEqual([]);
  });

  it('an event is owed when it was sent a second after its configuration was enabled again', () => {
    const enabled = {
      ref: REF,
      requested: { what: 'enable' as const },
      requestedAt: at(2),
      respondedAt: at(2.5),
    };
    const sentAt = (seconds: number) =>
      new Map([
        [event.id, { event, ingress: 'topic' as const, sentAt: at(seconds), acceptedAt: at(seconds) }],
      ]);
    const timeline = (seconds: number) =>
      kinds(changed('toggled', { ...nowhere, sent: sentAt(seconds), changes: [disabled, enabled] }));
    expect(timeline(3.4)).toEqual([]);
    expect(timeline(3.6)).toEqual(['lost']);
  });

  it('not in force: an attempt went to where the endpoint was before', () => {
    const requested = { what: 'move' as const, path: `${CONFIGURATION.path}/elsewhere` };
    const changes = [{ ref: REF, requested, requestedAt: at(1), respondedAt: at(1.2) }];
    const listed = [{ ref: REF, enabled: true, path: requested.path }];
    const moved = (path: string) =>
      kinds(changed('moved', { arrivals: [arrived(4, { path })], changes, listed }));
    expect(moved(requested.path)).toEqual([]);
    expect(moved(CONFIGURATION.path)).toEqual(['not-in-force']);
  });

  it('wrong signature: an attempt is not signed by the secret that is in force', () => {
    const changes = [
      {
        ref: REF,
        requested: { what: 'rotate' as const },
        requestedAt: at(1),
        respondedAt: at(1.2),
        secret: SECRET,
      },
    ];
    const signed = (arrival: ReturnType<typeof arrived>) =>
      kinds(changed('signed', { arrivals: [arrival], changes }));
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    expect(signed(signedArrival(4, SECRET))).toEqual([]);
    expect(signed(signedArrival(4, other))).toEqual(['wrong-signature']);
    expect(signed(arrived(4))).toEqual(['wrong-signature']);
    expect(signed(arrived(0.5))).toEqual([]);
  });

  it('wrong configuration: config-api lists something else than was accepted last', () => {
    expect(kinds(changed('toggled', { changes: [disabled] }))).toEqual(['wrong-configuration']);
    expect(kinds(evidence({ listed: [] }))).toEqual(['wrong-configuration']);
    const withoutResponse = [{ ref: REF, requested: { what: 'disable' as const }, requestedAt: at(1) }];
    expect(kinds(changed('toggled', { changes: withoutResponse }))).toEqual([]);
  });
});
