import { stickyAssigner } from '../../src/source/sticky-assigner.js';
import type { Holding } from '../../src/source/sticky-assigner.js';

const TIERS = ['tier.1s', 'tier.5s', 'tier.30s'];
const TWELVE = Array.from({ length: 12 }, (_, index) => index);

const memberOf = (memberId: string, holding: Holding) => ({
  memberId,
  memberMetadata: stickyAssigner(
    () => holding,
    () => TWELVE,
  ).protocol({
    topics: TIERS,
  }).metadata,
});

/** The wire form of an assignment: version, then topics with their partitions, then user data (Kafka protocol guide). */
function decodeAssignment(bytes: Buffer): Record<string, number[]> {
  const assignment: Record<string, number[]> = {};
  let at = 6;
  for (let topics = bytes.readInt32BE(2); topics > 0; topics -= 1) {
    const length = bytes.readInt16BE(at);
    const topic = bytes.toString('utf8', at + 2, at + 2 + length);
    const count = bytes.readInt32BE(at + 2 + length);
    at += 6 + length;
    assignment[topic] = Array.from({ length: count }, (_, index) => bytes.readInt32BE(at + 4 * index));
    at += 4 * count;
  }
  return assignment;
}

/** What each member gets, by topic. */
async function assign(
  holdings: Readonly<Record<string, Holding>>,
  partitionsOf: (topic: string) => readonly number[] = () => TWELVE,
): Promise<Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>> {
  const nothing = { generation: -1, partitions: {} };
  const assigner = stickyAssigner(() => nothing, partitionsOf);
  const members = Object.entries(holdings).map(([id, holding]) => memberOf(id, holding));
  const given = await assigner.assign({ members, topics: TIERS });
  return Object.fromEntries(
    given.map(({ memberId, memberAssignment }) => [memberId, decodeAssignment(memberAssignment)]),
  );
}

const NEW: Holding = { generation: -1, partitions: {} };

it('gives the same partitions of topics that are alike to the same member, whatever it held of each', async () => {
  const given = await assign({
    a: { generation: 3, partitions: { 'tier.1s': [0, 1, 2, 3], 'tier.5s': [4, 5], 'tier.30s': [11] } },
    b: { generation: 3, partitions: { 'tier.5s': [0, 1, 2] } },
    c: NEW,
  });
  const all = Object.values(given);
  for (const topics of all) {
    expect(topics['tier.5s']).toEqual(topics['tier.1s']);
    expect(topics['tier.30s']).toEqual(topics['tier.1s']);
    expect(topics['tier.1s']).toHaveLength(4);
  }
  expect(given['a']?.['tier.1s']).toEqual([0, 1, 2, 3]);
  expect(all.flatMap((topics) => topics['tier.30s'] ?? []).sort((a, b) => a - b)).toEqual(TWELVE);
});

it('deals a topic with other partitions by itself', async () => {
  const given = await assign({ a: NEW, b: NEW }, (topic) => (topic === 'tier.5s' ? [0, 1] : TWELVE));
  for (const topics of Object.values(given)) {
    expect(topics['tier.5s']).toHaveLength(1);
    expect(topics['tier.30s']).toEqual(topics['tier.1s']);
  }
});
