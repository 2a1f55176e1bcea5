import ipaddr from 'ipaddr.js';
import { BlockList, isIP } from 'node:net';

/** IPv4 blocks that no delivery may reach, with the reason (IANA special-purpose registry). */
export const DENIED_IPV4: readonly (readonly [block: string, reason: string])[] = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier NAT'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'cloud platform'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'AS112'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
];

/** The only IPv6 block that may be reached: global unicast. */
const ALLOWED_IPV6 = '2000::/3';

/** IPv6 blocks inside global unicast that no delivery may reach, with the reason. */
export const DENIED_IPV6: readonly (readonly [block: string, reason: string])[] = [
  ['2001::/23', 'protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3ffe::/16', 'returned 6bone'],
  ['3fff::/20', 'documentation'],
];

/**
 * Ranges in which an operator may make exceptions: private networks. No exception may reach this machine or its
 * cloud platform.
 */
const EXCEPTABLE: readonly string[] = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
];

/** Metadata and credential services inside those ranges. They are never excepted. */
const METADATA: readonly string[] = ['100.100.100.200', 'fd00:ec2::/32', 'fd20:ce::254'];

export interface AddressRules {
  /** Development only: 127.0.0.0/8 and ::1 may be reached. Default false. */
  readonly allowLoopback?: boolean;
  /**
   * Further denied blocks (CIDR or single addresses), such as the operator's public addresses, cluster ranges and
   * partners.
   */
  readonly deny?: readonly string[];
  /**
   * The operator's exceptions (CIDR or single addresses), such as a partner's private link; `deny` wins. Each must
   * be inside a private range (`EXCEPTABLE`): loopback, link-local, metadata and embedded addresses cannot be
   * excepted.
   */
  readonly allow?: readonly string[];
}

/** Returns why an IP address must not be connected to; undefined when it may be. Does no I/O. */
export type AddressPolicy = (address: string) => string | undefined;

type Family = 'ipv4' | 'ipv6';

/**
 * Creates the policy. Two checks with separate code and tables must both pass: the named ranges of ipaddr.js, and
 * node:net's BlockList with the tables above. An embedded IPv4 address (mapped, NAT64, 6to4, Teredo) is never
 * extracted: its IPv6 form is refused. Throws when an entry of `deny` or `allow` is not an address or a block, or
 * when an entry of `allow` is not private.
 */
export function createAddressPolicy(rules: AddressRules = {}): AddressPolicy {
  const operatorList = toBlockList(rules.deny ?? []);
  const isException = createExceptions(rules.allow ?? []);
  const allowLoopback = rules.allowLoopback === true;
  return (address) => {
    const family = familyOf(address);
    if (family === undefined) return 'not an address';
    if (operatorList.check(address, family)) return 'operator list';
    if (isException(address, family)) return undefined;
    if (allowLoopback && ipaddr.parse(address).range() === 'loopback') return undefined;
    return checkByRange(address) ?? checkByBlocks(address, family);
  };
}

/**
 * First check: the named range of ipaddr.js must be `unicast`, and for IPv6 the first three bits must be 001.
 * Returns why the address is refused; undefined when it passes.
 */
export function checkByRange(address: string): string | undefined {
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== 'unicast') return range;
  if (parsed instanceof ipaddr.IPv6) {
    return (parsed.parts[0] ?? 0) >> 13 === 1 ? undefined : 'not global unicast';
  }
  return undefined;
}

/**
 * Second check: the tables above, in BlockLists of Node. Returns why the address is refused; undefined when it
 * passes.
 */
export function checkByBlocks(address: string, family: Family): string | undefined {
  if (family === 'ipv6' && !GLOBAL_UNICAST.check(address, family)) return 'not global unicast';
  return DENIED.find(({ list }) => list.check(address, family))?.reason;
}

/** Undefined for text that is not a plain address. An address with a zone (`fe80::1%eth0`) never comes from DNS. */
function familyOf(address: string): Family | undefined {
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}

/** Each family has its own list: one BlockList would find the IPv4 address inside a mapped IPv6 address. */
function createExceptions(blocks: readonly string[]): (address: string, family: Family) => boolean {
  for (const block of blocks) {
    if (!isExceptable(parseBlock(block))) {
      throw new Error(`expected an exception inside ${EXCEPTABLE.join(', ')}, got "${block}"`);
    }
  }
  const isFour = (block: string): boolean => parseBlock(block).family === 'ipv4';
  const lists = {
    ipv4: toBlockList(blocks.filter(isFour)),
    ipv6: toBlockList(blocks.filter((block) => !isFour(block))),
  };
  return (address, family) => lists[family].check(address, family) && !NEVER_EXCEPTED.check(address, family);
}

function isExceptable({ address, bits, family }: ReturnType<typeof parseBlock>): boolean {
  return EXCEPTABLE.map(parseBlock).some(
    (range) =>
      range.family === family &&
      bits >= range.bits &&
      toBlockList([`${range.address}/${range.bits}`]).check(address, family),
  );
}

function toBlockList(blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const { address, bits, family } = parseBlock(block);
    list.addSubnet(address, bits, family);
  }
  return list;
}

function parseBlock(block: string) {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(block) ?? [];
  const family = familyOf(address);
  const width = family === 'ipv4' ? 32 : 128;
  const bits = prefix === undefined ? width : Number(prefix);
  if (family === undefined || bits > width) {
    throw new Error(`expected an IP address or a CIDR block such as 10.0.0.0/8, got "${block}"`);
  }
  return { address, bits, family };
}

const GLOBAL_UNICAST = toBlockList([ALLOWED_IPV6]);
const NEVER_EXCEPTED = toBlockList(METADATA);
const DENIED = [...DENIED_IPV4, ...DENIED_IPV6].map(([block, reason]) => ({
  list: toBlockList([block]),
  reason,
}));
