import { eventually } from '@webhooks/testkit';
import { DeadlineQueue } from '../../src/pool/deadline-queue.js';
import type { Deadlined } from '../../src/pool/deadline-queue.js';

interface Member extends Deadlined {
  readonly name: string;
}

function member(name: string, inMs: number, expired: string[]): Member {
  return {
    name,
    deadline: performance.now() + inMs,
    expire: () => expired.push(name),
  };
}

describe('DeadlineQueue', () => {
  it('ends what is due, in order, and nothing that was removed before', async () => {
    const expired: string[] = [];
    const queue = new DeadlineQueue();
    const members = ['a', 'b', 'c', 'd'].map((name) => member(name, 60, expired));
    for (const each of members) queue.add(each);
    for (const each of members.filter(({ name }) => name === 'a' || name === 'c')) queue.remove(each);
    expect(queue.size).toBe(2);
    await eventually(() => expired.length === 2);
    expect(expired).toEqual(['b', 'd']);
    expect(queue.size).toBe(0);
  });

  it('goes on with members added later, also after it had been empty', async () => {
    const expired: string[] = [];
    const queue = new DeadlineQueue();
    const gone = member('gone', 30, expired);
    queue.add(gone);
    queue.remove(gone);
    queue.add(member('first', 40, expired));
    await eventually(() => expired.length === 1);
    const before = performance.now();
    queue.add(member('second', 40, expired));
    await eventually(() => expired.length === 2, { intervalMs: 2 });
    expect(performance.now() - before).toBeLessThan(150);
    expect(expired).toEqual(['first', 'second']);
  });

  it('needs one timer for any number of members', () => {
    const queue = new DeadlineQueue();
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const members = Array.from({ length: 1_000 }, (_, i) => member(String(i), 10_000, []));
    for (const each of members) queue.add(each);
    expect(timers() - before).toBeLessThanOrEqual(1);
    for (const each of members) queue.remove(each);
    expect(queue.size).toBe(0);
  });

  it('lets a member end itself while it expires', async () => {
    const queue = new DeadlineQueue();
    const self: Deadlined = {
      deadline: performance.now() + 10,
      expire: () => queue.remove(self),
    };
    queue.add(self);
    queue.add(member('next', 5_000, []));
    await eventually(() => queue.size === 1);
  });
});
