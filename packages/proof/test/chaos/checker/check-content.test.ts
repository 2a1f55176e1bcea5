import {
  arrived,
  dead,
  entry,
  event,
  evidence,
  kinds,
  place,
  task,
  deliveryId,
  flaky,
} from './evidence-builder.js';

describe('content', () => {
  it('invented: an arrival of an event that nobody sent, or at a path that did not want it', () => {
    expect(kinds(evidence({ arrivals: [arrived(0.1), arrived(1, { id: 'evt_other' })] }))).toEqual([
      'invented',
    ]);
    expect(kinds(evidence({ arrivals: [arrived(0.1), arrived(1, { path: '/other' })] }))).toEqual([
      'invented',
    ]);
  });

  it('invented: a record of Kafka belongs to no event of the run', () => {
    const copies = new Map([
      [event.id, [place('payments.events', 5)]],
      ['evt_other', [place('payments.events', 6)]],
    ]);
    const strange = [
      { copies },
      { entries: [entry(0.1), entry(1, { deliveryId: 'other' })] },
      { tasks: [task(0.1, { deliveryId: 'other' })] },
      { dead: [dead(9, { deliveryId: 'other' })] },
    ];
    for (const topics of strange) expect(kinds(evidence({ topics }))).toEqual(['invented']);
  });

  it('other bytes: one arrival had another body', () => {
    const arrivals = [arrived(0.1), arrived(0.2, { digest: 'other', status: 500 })];
    expect(kinds(evidence({ arrivals }))).toEqual(['other-bytes']);
  });

  it('rejected: an event was refused, or a record cannot be read', () => {
    expect(kinds(evidence({ topics: { rejected: [place('payments.events.rejected', 1)] } }))).toEqual([
      'rejected',
    ]);
    expect(kinds(evidence({ topics: { unreadable: [place('webhooks.attempts', 1)] } }))).toEqual([
      'rejected',
    ]);
  });
});

describe('the delivery log', () => {
  it('wrong log: the log contradicts the topics', () => {
    expect(kinds(evidence({ log: new Map([[deliveryId, 'pending']]) }))).toEqual(['wrong-log']);
    expect(kinds(evidence({ log: new Map() }))).toEqual(['wrong-log']);
  });

  it('wrong log: the log has a delivery that was never owed', () => {
    const log = new Map([
      [deliveryId, 'delivered' as const],
      ['other', 'pending' as const],
    ]);
    expect(kinds(evidence({ log }))).toEqual(['wrong-log']);
  });

  it('wrong log: the log says delivered, and no receiver gave a 2xx', () => {
    expect(kinds(evidence({ ...flaky, arrivals: [arrived(0.1, { status: 503 })] }))).toEqual([
      'lost',
      'wrong-log',
    ]);
  });
});
