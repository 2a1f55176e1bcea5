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

/** IPv6: only global unicast may be reached … */
export const ALLOWED_IPV6 = '2000::/3';

/** … except these blocks inside it. */
export const DENIED_IPV6: readonly (readonly [block: string, reason: string])[] = [
  ['2001::/23', 'protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3ffe::/16', 'returned 6bone'],
  ['3fff::/20', 'documentation'],
];

/** Where an operator may make exceptions: private networks, and nothing that is this machine or the cloud under it. */
export const EXCEPTABLE: readonly string[] = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
];

/** Metadata and credential services that stand inside those ranges: never excepted. */
export const METADATA: readonly string[] = ['100.100.100.200', 'fd00:ec2::/32', 'fd20:ce::254'];
