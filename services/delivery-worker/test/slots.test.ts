import { Slots } from '../src/slots.js';

describe('the slots of an endpoint', () => {
  it('lets so many in and hands a slot to the first who waits', async () => {
    const gate = new Slots(2);
    const order: string[] = [];
    await gate.enter('a');
    await gate.enter('a');
    const third = gate.enter('a').then(() => order.push('third'));
    const fourth = gate.enter('a').then(() => order.push('fourth'));
    await gate.enter('b');
    expect(order).toEqual([]);
    gate.leave('a');
    await third;
    gate.leave('a');
    await fourth;
    expect(order).toEqual(['third', 'fourth']);
  });
});
