import { SettledMemory } from '../src/path/settled-memory.js';
import { buildTask } from './builders.js';

/** How often work was done for these tasks, one after the other. */
async function timesDone(
  memory: SettledMemory,
  ...tasks: readonly ReturnType<typeof buildTask>[]
): Promise<number> {
  return timesSettled(memory, 'retry', tasks);
}

async function timesSettled(
  memory: SettledMemory,
  kind: 'retry' | 'deferred',
  tasks: readonly ReturnType<typeof buildTask>[],
): Promise<number> {
  let times = 0;
  for (const task of tasks) {
    await memory.once(task, () => {
      times += 1;
      return Promise.resolve(kind);
    });
  }
  return times;
}

const at = (offset: string) => ({ topic: 'payments.events', partition: 0, offset });

describe('the memory of settled attempts', () => {
  it('recognises a copy of a record', async () => {
    expect(await timesDone(new SettledMemory(10), buildTask({ attempt: 2 }), buildTask({ attempt: 2 }))).toBe(
      1,
    );
  });

  it.each([
    ['the next attempt', { attempt: 3 }],
    ['a redelivery', { attempt: 2, cycle: 'x' }],
    // The first one may have been cancelled: this one was accepted later, and is owed.
    ['the same event accepted once more', { attempt: 2, origin: at('777') }],
  ])('does not take %s for a copy', async (_, over) => {
    expect(await timesDone(new SettledMemory(10), buildTask({ attempt: 2 }), buildTask(over))).toBe(2);
  });

  it('does not take the same attempt, deferred meanwhile, for a copy', async () => {
    const tasks = [0, 1, 2].map((deferralCount) => buildTask({ attempt: 2, deferralCount }));
    expect(await timesSettled(new SettledMemory(10), 'deferred', tasks)).toBe(3);
  });

  it('takes one that was deferred less often than what it has seen for a copy', async () => {
    const tasks = [5, 3, 5, 4].map((deferralCount) => buildTask({ attempt: 2, deferralCount }));
    expect(await timesSettled(new SettledMemory(10), 'deferred', tasks)).toBe(1);
  });

  it('takes every copy of an attempt that was made for one, however often it was deferred', async () => {
    const tasks = [1, 0, 1, 7].map((deferralCount) => buildTask({ attempt: 2, deferralCount }));
    expect(await timesDone(new SettledMemory(10), ...tasks)).toBe(1);
  });

  it('lets a simultaneous second copy share the result of the first', async () => {
    const memory = new SettledMemory(10);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let times = 0;
    const work = async (): Promise<'delivered'> => {
      times += 1;
      await promise;
      return 'delivered';
    };
    const both = [memory.once(buildTask(), work), memory.once(buildTask(), work)];
    resolve(undefined);
    await Promise.all(both);
    expect(times).toBe(1);
  });

  it('lets the successor of a deferred task wait for its end, because it is no copy', async () => {
    const memory = new SettledMemory(10);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const seen: number[] = [];
    const settle = (deferralCount: number, until: Promise<undefined>) =>
      memory.once(buildTask({ deferralCount }), async () => {
        seen.push(deferralCount);
        await until;
        return 'deferred';
      });
    const both = [settle(1, promise), settle(2, Promise.resolve(undefined))];
    expect(seen).toEqual([1]);
    resolve(undefined);
    await Promise.all(both);
    expect(seen).toEqual([1, 2]);
  });

  it('remembers nothing of work that failed', async () => {
    const memory = new SettledMemory(10);
    await expect(memory.once(buildTask(), () => Promise.reject(new Error('stopping')))).rejects.toThrow(
      'stopping',
    );
    expect(await timesDone(memory, buildTask())).toBe(1);
  });

  it('forgets the oldest when it is full', async () => {
    const memory = new SettledMemory(2);
    const tasks = [1, 2, 3, 4, 5].map((attempt) => buildTask({ attempt }));
    expect(await timesDone(memory, ...tasks, ...tasks.slice(3), ...tasks.slice(0, 1))).toBe(6);
  });
});
