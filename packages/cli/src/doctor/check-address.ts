import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { fault, ok, type Check } from './check.js';

const URL_RULES: readonly (readonly [isBroken: (url: URL) => boolean, found: string, fix: string])[] = [
  [({ protocol }) => protocol !== 'https:', 'not https', 'give the receiver a certificate'],
  [({ hostname }) => /^\[|^[\d.]+$/.test(hostname), 'an IP address', 'use a host name'],
  [({ username, password, hash }) => username + password + hash !== '', 'user or fragment', 'leave them out'],
  [({ hostname }) => !/\.|^localhost$/.test(hostname), 'a host without a dot', 'use the full host name'],
];

/** What the service demands of an endpoint's address, as far as its text says. */
function checkUrl(url: URL): Check {
  const check = 'address';
  const broken = URL_RULES.find(([isBroken]) => isBroken(url));
  if (broken) return fault(check, broken[1], broken[2]);
  if (url.hostname !== 'localhost') return ok(check, url.origin);
  return { check, state: 'warning', found: 'this machine', fix: 'only a development service delivers to it' };
}

/** Asks name servers as the service does: neither hosts files nor search domains count. */
export async function* checkAddress(url: URL, nameServer: string | undefined): AsyncGenerator<Check> {
  yield checkUrl(url);
  if (url.hostname === 'localhost') return;
  const resolver = new Resolver();
  if (nameServer !== undefined) resolver.setServers([nameServer]);
  const name = `${url.hostname}.`;
  const asked = [resolver.resolve4(name), resolver.resolve6(name)].map((records) => records.catch(() => []));
  const addresses = (await Promise.all(asked)).flat();
  const fix = 'check its A and AAAA records';
  yield addresses.length === 0 ? fault('DNS', 'unknown host', fix) : ok('DNS', addresses.join(', '));
  const ranges = addresses.map((address) => `${address} (${ipaddr.process(address).range()})`);
  const denied = ranges.find((range) => !range.endsWith('(unicast)'));
  yield denied === undefined
    ? ok('address rules', 'public')
    : fault('address rules', `private address: ${denied}`, 'publish public addresses only');
}
