import { DueHeap } from '../src/due-heap.js';

describe('due heap', () => {
  it('gives items in the order in which they are due, and none before', () => {
    const heap = new DueHeap<number>();
    const dues = Array.from({ length: 500 }, (_, n) => (n * 7919) % 500);
    for (const due of dues) heap.push(due, due);
    expect(heap.nextDue).toBe(0);
    const out: number[] = [];
    for (let item = heap.popDue(249); item !== undefined; item = heap.popDue(249)) out.push(item);
    expect(out).toEqual(Array.from({ length: 250 }, (_, n) => n));
    expect(heap.size).toBe(250);
  });

  it('takes out what does not pass and stays in order', () => {
    const heap = new DueHeap<number>();
    for (let n = 0; n < 100; n += 1) heap.push((n * 37) % 100, (n * 37) % 100);
    expect(heap.keepOnly((item) => item % 2 === 0)).toHaveLength(50);
    const out: number[] = [];
    for (let item = heap.popDue(1_000); item !== undefined; item = heap.popDue(1_000)) out.push(item);
    expect(out).toEqual(Array.from({ length: 50 }, (_, n) => 2 * n));
  });
});
