import protocol from 'kafkajs/src/consumer/assignerProtocol.js';
import type { Assigner, GroupMember } from 'kafkajs/src/consumer/consumerGroup.js';

/** What a member held, and since which generation: the newer claim wins. */
export interface Holding {
  readonly generation: number;
  readonly partitions: Readonly<Record<string, readonly number[]>>;
}

export interface StickyAssignerOptions {
  readonly holding: () => Holding;
  readonly partitionsOf: (topic: string) => readonly number[];
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
 * Each topic is spread evenly, and a member keeps what it holds as far as that allows. Topics with the same partitions and
 * readers are dealt alike: partition 3 of every retry tier is one member's, so that it sees all records of one key. kafkajs' round robin deals all
 * partitions anew whenever a member comes or goes, and each partition that changes hands is a chance of repeats.
 */
export function stickyAssigner(options: StickyAssignerOptions): Assigner {
  return {
    name: NAME,
    version: 1,
    protocol: ({ topics }) => {
      const userData = Buffer.from(JSON.stringify(options.holding()));
      return { name: NAME, metadata: protocol.MemberMetadata.encode({ version: 1, topics, userData }) };
    },
    assign: ({ members, topics }) => {
      const parsed = members.map(parseMember).sort((a, b) => (a.id < b.id ? -1 : 1));
      const leaders = new Map<string, string>();
      for (const topic of topics) {
        const partitions = options.partitionsOf(topic);
        const subscribed = parsed.filter((member) => member.topics.has(topic));
        const alike = JSON.stringify([partitions, subscribed.map(({ id }) => id)]);
        const leader = leaders.get(alike);
        leaders.set(alike, leader ?? topic);
        if (leader !== undefined) assignAlike(topic, leader, subscribed);
        else if (subscribed.length > 0) assignTopic(topic, partitions, subscribed);
      }
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
    const parsed: unknown = JSON.parse(userData?.toString() ?? '');
    const holding = parsed as Partial<Holding> | null;
    return { generation: holding?.generation ?? -1, partitions: holding?.partitions ?? {} };
  } catch {
    return NOTHING; // a member of another kind: it holds nothing we know of
  }
}

function assignAlike(topic: string, leader: string, members: readonly Member[]): void {
  for (const member of members) {
    const same = [...(member.assigned[leader] ?? [])];
    member.assigned[topic] = same;
    member.total += same.length;
  }
}

function assignTopic(topic: string, partitions: readonly number[], members: readonly Member[]): void {
  const held = heldBy(topic, partitions, members);
  const quota = quotas(partitions.length, members, held);
  const free: number[] = [];
  for (const partition of partitions) {
    const holder = held.get(partition);
    if (holder === undefined || !give(topic, partition, { member: holder, quota })) free.push(partition);
  }
  for (const partition of free) {
    members.some((member) => give(topic, partition, { member, quota }));
  }
}

function heldBy(
  topic: string,
  partitions: readonly number[],
  members: readonly Member[],
): Map<number, Member> {
  const existing = new Set(partitions);
  const holders = new Map<number, Member>();
  for (const member of members) {
    for (const partition of member.holding.partitions[topic] ?? []) {
      const rival = holders.get(partition);
      const newer = rival === undefined || rival.holding.generation < member.holding.generation;
      if (existing.has(partition) && newer) holders.set(partition, member);
    }
  }
  return holders;
}

/** An equal share each; what does not divide goes to those who hold more already, then to those with the least. */
function quotas(
  partitions: number,
  members: readonly Member[],
  held: Map<number, Member>,
): Map<Member, number> {
  const share = Math.floor(partitions / members.length);
  const heldCount = (member: Member) => [...held.values()].filter((holder) => holder === member).length;
  const inOrder = members
    .map((member) => ({ member, above: heldCount(member) > share ? 1 : 0 }))
    .sort((a, b) => b.above - a.above || a.member.total - b.member.total);
  const extras = partitions % members.length;
  return new Map(inOrder.map(({ member }, index) => [member, share + (index < extras ? 1 : 0)]));
}

function give(
  topic: string,
  partition: number,
  to: { readonly member: Member; readonly quota: Map<Member, number> },
): boolean {
  const { member, quota } = to;
  const list = (member.assigned[topic] ??= []);
  if (list.length >= (quota.get(member) ?? 0)) return false;
  list.push(partition);
  member.total += 1;
  return true;
}
