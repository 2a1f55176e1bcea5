import { jest } from '@jest/globals';
import { HeldConnections } from '../src/held-connections.js';
import type { Sender, SendResult } from '../src/index.js';
import { postTimes, Rig } from './rig.js';

const rig = new Rig();
afterEach(async () => {
  jest.restoreAllMocks();
  await rig.close();
});

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it('are counted anew each 20 ms: those on which an answer is waited for too long', () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000);
  const waits = [0, 500, 501, 9_000];
  const connections = new Set(waits.map((_, index) => ({ waitedMs: () => waits[index] ?? 0 })));
  const held = new HeldConnections(connections, 500);
  expect(held.count).toBe(2);
  waits.fill(0);
  clock.mockReturnValue(1_019);
  expect(held.count).toBe(2);
  clock.mockReturnValue(1_020);
  expect(held.count).toBe(0);
});

it('are counted at once when connections have ended, among which they may have been', () => {
  jest.spyOn(performance, 'now').mockReturnValue(1_000);
  const connections = new Set(Array.from({ length: 4 }, () => ({ waitedMs: () => 9_000 })));
  const held = new HeldConnections(connections, 500);
  expect(held.count).toBe(4);
  for (const one of [...connections].slice(1)) connections.delete(one);
  expect(held.count).toBe(1);
});

it('are none that attempts at other endpoints of the origin wait for', async () => {
  const hang = Promise.withResolvers<number>();
  const all = Promise.withResolvers<undefined>();
  const endpoint = await rig.endpoint({
    answer: ({ index }) => {
      if (index === 40) all.resolve(undefined);
      return index > 40 ? Promise.resolve(200) : hang.promise;
    },
  });
  // Whoever waits for one of many connections waits for longer than an attempt may take.
  const sender = rig.sender(endpoint, { usedConnectionMs: 64 * 200, heldConnectionMs: 0 });
  const hanging = postTimes(40, sender, endpoint.origin);
  await all.promise;
  for (const result of await postTimes(8, sender, endpoint.origin)) expect(result.kind).toBe('answered');
  hang.resolve(200);
  for (const result of await hanging) expect(result.kind).toBe('answered');
});

it('are not those whose answers lie here unread after a pause of ours', async () => {
  const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  const posted = Promise.withResolvers<SendResult[]>();
  const endpoint = await rig.endpoint({
    answer: ({ index }) => {
      if (index === 40) first.resolve(200);
      if (index === 80) {
        block(700);
        posted.resolve(postTimes(40, sender, endpoint.origin));
        second.resolve(200);
      }
      return index <= 40 ? first.promise : second.promise;
    },
  });
  const sender: Sender = rig.sender(endpoint, { usedConnectionMs: 64 * 1_000 });
  await postTimes(40, sender, endpoint.origin);
  const opened = sender.stats().connectionsOpened;
  await postTimes(40, sender, endpoint.origin);
  await posted.promise;
  expect(sender.stats().connectionsOpened).toBe(opened);
});
