import { eventually, randomName } from '@webhooks/testkit';
import { openSink } from '../../src/index.js';
import { closeAll, newTopic, sharedKafka } from '../support/cluster.js';
import { committed } from '../support/committed.js';
import { spawnMember } from '../support/member-process.js';
import { balance, openMember, partitionsOf } from '../support/members.js';

const BEFORE = 4_000;
const AFTER = 400;
const LONG = { timeoutMs: 30_000 };
const lines: string[] = [];
const kafka = sharedKafka((_level, message) => lines.push(message));
afterAll(closeAll);

it('a member that stood still while another process took its client id loses nothing, and both stay members', async () => {
  const topic = await newTopic(kafka, 4);
  const groupId = randomName('group');
  const sink = await openSink({ kafka });
  const write = (from: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) => sink.send({ topic, key: `${from + n}`, value: `${from + n}` })),
    );
  const position = async () =>
    [...(await committed(kafka, groupId, topic)).values()].reduce((sum, one) => sum + one, 0);

  const options = { groupId, topic, workMs: 10, clientId: randomName('member') };
  const zombie = spawnMember(kafka.brokers, options);
  await eventually(zombie.joined, LONG);
  await write(0, BEFORE);
  await eventually(() => zombie.handled.length > 200, LONG);
  zombie.process.kill('SIGSTOP');
  const survivor = await openMember(kafka, options);
  expect(partitionsOf(survivor)).toBe(4);
  await eventually(async () => expect(await position()).toBe(BEFORE), LONG);
  const woken = zombie.handled.length;

  zombie.process.kill('SIGCONT');
  let least = BEFORE;
  await eventually(
    async () => {
      least = Math.min(least, await position());
      expect(partitionsOf(survivor)).toBe(2);
    },
    { ...LONG, message: 'the one that stood still is a member again' },
  );
  await write(BEFORE, AFTER);
  await eventually(async () => expect(await position()).toBe(BEFORE + AFTER), LONG);
  expect(least).toBe(BEFORE);
  // Each joined once more than it would have alone: neither removes the other again.
  expect(survivor.source.health()).toMatchObject({ joined: true });
  expect(lines.filter((line) => line.endsWith('joined a group'))).toHaveLength(2);
  // It went on where it stood, with what it had in hand.
  expect(zombie.handled.length).toBeGreaterThan(woken);
  const all = [...zombie.handled, ...survivor.handled];
  expect(balance(all, BEFORE + AFTER).lost).toBe(0);
  zombie.process.kill('SIGKILL');
  await survivor.source.stop({ deadlineMs: 5_000 });
  await sink.close();
}, 120_000);
