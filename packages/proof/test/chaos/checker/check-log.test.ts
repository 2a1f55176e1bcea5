import { arrived, deliveryId, evidence, kinds, moody } from './evidence-builder.js';

describe('the delivery log', () => {
  it('wrong log: it says something else than the topics', () => {
    expect(kinds(evidence({ log: new Map([[deliveryId, 'pending']]) }))).toEqual(['wrong-log']);
    expect(kinds(evidence({ log: new Map() }))).toEqual(['wrong-log']);
  });

  it('wrong log: it tells of a delivery that never was', () => {
    const log = new Map([
      [deliveryId, 'delivered' as const],
      ['other', 'pending' as const],
    ]);
    expect(kinds(evidence({ log }))).toEqual(['wrong-log']);
  });

  it('wrong log: delivered, and no receiver gave a 2xx', () => {
    expect(kinds(evidence({ ...moody, arrivals: [arrived(0.1, { status: 503 })] }))).toEqual([
      'lost',
      'wrong-log',
    ]);
  });
});
