import { SettledMemory } from '../src/settled-memory.js';
import { buildTask } from './builders.js';

/** How often work was done for these tasks, one after the other. */
async function timesDone(
  memory: SettledMemory,
  ...tasks: readonly ReturnType<typeof buildTask>[]
): Promise<number> {
  let times = 0;
  for (const task of tasks) {
    await memory.once(task, () => {
      times += 1;
      return Promise.resolve();
    });
  }
  return times;
}

const at = (offset: string) => ({ topic: 'payments.events', partition: 0, offset });

describe('the memory of settled attempts', () => {
  it('knows a copy of a record', async () => {
    expect(await timesDone(new SettledMemory(10), buildTask({ attempt: 2 }), buildTask({ attempt: 2 }))).toBe(
      1,
    );
  });

  it.each([
    ['the next attempt', { attempt: 3 }],
    ['a redelivery', { attempt: 2, cycle: 'x' }],
    ['the same attempt, parked meanwhile', { attempt: 2, parkedCount: 1 }],
    // The first one may have been cancelled: this one was accepted later, and is owed.
    ['the same event accepted once more', { attempt: 2, origin: at('777') }],
  ])('does not take %s for a copy', async (_, over) => {
    expect(await timesDone(new SettledMemory(10), buildTask({ attempt: 2 }), buildTask(over))).toBe(2);
  });

  it('lets a second copy at the same time share the fate of the first', async () => {
    const memory = new SettledMemory(10);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let times = 0;
    const work = async (): Promise<void> => {
      times += 1;
      await promise;
    };
    const both = [memory.once(buildTask(), work), memory.once(buildTask(), work)];
    resolve(undefined);
    await Promise.all(both);
    expect(times).toBe(1);
  });

  it('remembers nothing of work that failed', async () => {
    const memory = new SettledMemory(10);
    await expect(memory.once(buildTask(), () => Promise.reject(new Error('stopping')))).rejects.toThrow(
      'stopping',
    );
    expect(await timesDone(memory, buildTask())).toBe(1);
  });

  it('forgets the oldest when it is full, and keeps at least as many as it should', async () => {
    const memory = new SettledMemory(2);
    const tasks = [1, 2, 3, 4, 5].map((attempt) => buildTask({ attempt }));
    expect(await timesDone(memory, ...tasks, ...tasks.slice(2), ...tasks.slice(0, 1))).toBe(6);
  });
});
