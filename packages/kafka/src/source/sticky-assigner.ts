import { assignerProtocol as protocol, type Assigner, type GroupMember } from '../kafkajs/connections.js';

/**
 * The partitions that a member has, and the generation of that assignment. When two members claim a partition, the
 * newer generation wins.
 */
export interface Holding {
  readonly generation: number;
  readonly partitions: Readonly<Record<string, readonly number[]>>;
}

interface Member {
  readonly id: string;
  readonly topics: ReadonlySet<string>;
  readonly holding: Holding;
  readonly assigned: Record<string, number[]>;
  total: number;
}

const NAME = 'webhooks-sticky';
const NOTHING: Holding = { generation: -1, partitions: {} };

/**
 * An assigner that spreads each topic evenly. A member keeps its partitions as far as an even spread allows. Topics
 * with the same partitions and readers are assigned together. So partition 3 of every retry tier belongs to one
 * member, which sees all records of a key. kafkajs' round robin moves all partitions when a member joins or leaves,
 * and each moved partition may repeat records.
 */
export function stickyAssigner(
  holding: () => Holding,
  partitionsOf: (topic: string) => readonly number[],
): Assigner {
  return {
    name: NAME,
    version: 1,
    protocol: ({ topics }) => {
      const userData = Buffer.from(JSON.stringify(holding()));
      return { name: NAME, metadata: protocol.MemberMetadata.encode({ version: 1, topics, userData }) };
    },
    assign: ({ members, topics }) => {
      const parsed = members.map(parseMember).sort((a, b) => (a.id < b.id ? -1 : 1));
      const readersOf = (topic: string) => parsed.filter((member) => member.topics.has(topic));
      const groups = Map.groupBy(topics, (topic) =>
        JSON.stringify([partitionsOf(topic), readersOf(topic).map(({ id }) => id)]),
      );
      for (const [first = '', ...others] of groups.values())
        assignTogether([first, ...others], partitionsOf(first), readersOf(first));
      return Promise.resolve(
        parsed.map(({ id, assigned }) => ({
          memberId: id,
          memberAssignment: protocol.MemberAssignment.encode({ version: 1, assignment: assigned }),
        })),
      );
    },
  };
}

function parseMember({ memberId, memberMetadata }: GroupMember): Member {
  const { topics, userData } = protocol.MemberMetadata.decode(memberMetadata);
  return { id: memberId, topics: new Set(topics), holding: parseHolding(userData), assigned: {}, total: 0 };
}

function parseHolding(userData: Buffer | null): Holding {
  try {
    return { ...NOTHING, ...(JSON.parse(String(userData)) as Partial<Holding> | null) };
  } catch {
    return NOTHING; // a member that runs another assigner
  }
}

/**
 * Assigns topics with the same partitions and readers. Each member keeps at most an equal share of its partitions;
 * the rest goes to the members with the fewest.
 */
function assignTogether(
  topics: [string, ...string[]],
  partitions: readonly number[],
  members: readonly Member[],
): void {
  const free = new Set(partitions);
  const evenShare = Math.floor(partitions.length / members.length);
  let extras = partitions.length % members.length;
  const newestClaimFirst = members.toSorted((a, b) => b.holding.generation - a.holding.generation);
  const shares = newestClaimFirst.map((member) => {
    const held = (member.holding.partitions[topics[0]] ?? []).filter((partition) => free.has(partition));
    const kept = held.slice(0, extras > 0 ? evenShare + 1 : evenShare);
    if (kept.length > evenShare) extras -= 1;
    for (const partition of kept) free.delete(partition);
    return { member, kept };
  });
  for (const partition of free) {
    const [least] = shares.sort((a, b) => a.kept.length - b.kept.length || a.member.total - b.member.total);
    least?.kept.push(partition);
  }
  for (const { member, kept } of shares) {
    for (const topic of topics) member.assigned[topic] = kept;
    member.total += kept.length * topics.length;
  }
}
