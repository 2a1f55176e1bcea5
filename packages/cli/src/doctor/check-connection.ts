import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { once } from 'node:events';
import { connect, type ConnectionOptions } from 'node:tls';
import { describeError } from '../post.js';
import { localTime } from '../times.js';

/** The result of one check. */
export interface Check {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'fault' | 'skipped';
  readonly found: string;
  readonly fix?: string;
}

export const ok = (check: string, found: string): Check => ({ check, state: 'ok', found });

export function fault(check: string, found: string, fix: string): Check {
  return { check, state: 'fault', found, fix };
}

const URL_RULES: readonly (readonly [isBroken: (url: URL) => boolean, found: string, fix: string])[] = [
  [({ protocol }) => protocol !== 'https:', 'not https', 'give the receiver a certificate'],
  [({ hostname }) => /^\[|^[\d.]+$/.test(hostname), 'an IP address', 'use a host name'],
  [({ username, password, hash }) => username + password + hash !== '', 'user or fragment', 'leave them out'],
  [({ hostname }) => !/\.|^localhost$/.test(hostname), 'a host without a dot', 'use the full host name'],
];

/** Checks the text of an address. The service refuses more: ports such as 444, and hosts under internal suffixes. */
function checkUrl(url: URL): Check {
  const check = 'address';
  const broken = URL_RULES.find(([isBroken]) => isBroken(url));
  if (broken) return fault(check, broken[1], broken[2]);
  if (url.hostname !== 'localhost') return ok(check, url.origin);
  return { check, state: 'warning', found: 'this machine', fix: 'only a development service delivers to it' };
}

/** Explains why there is no address, by the codes of the queries: the host is unknown, or its name server fails. */
function checkNoAddress(codes: readonly string[]): Check {
  const code = codes.find((one) => !/^ENOTFOUND$|^ENODATA$/.test(one));
  return code === undefined
    ? fault('DNS', 'unknown host', 'check its A and AAAA records')
    : fault('DNS', `the name server fails: ${code}`, 'check the name servers of the domain');
}

/** Resolves the host name as the service does: without hosts files and search domains. */
export async function* checkAddress(url: URL, nameServer: string | undefined): AsyncGenerator<Check> {
  yield checkUrl(url);
  if (url.hostname === 'localhost') return;
  const resolver = new Resolver();
  if (nameServer !== undefined) resolver.setServers([nameServer]);
  const name = `${url.hostname}.`;
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = found.flatMap((records) => (records.status === 'fulfilled' ? records.value : []));
  const codes = found.map((records) => (records.status === 'rejected' ? describeError(records.reason) : ''));
  yield addresses.length === 0 ? checkNoAddress(codes) : ok('DNS', addresses.join(', '));
  const ranges = addresses.map((address) => `${address} (${ipaddr.process(address).range()})`);
  const denied = ranges.find((range) => !range.endsWith('(unicast)'));
  yield denied === undefined
    ? ok('address rules', 'public')
    : fault('address rules', `private address: ${denied}`, 'publish public addresses only');
}

const UNTRUSTED = 'use a certificate of a public authority; your own authority: NODE_EXTRA_CA_CERTS=ca.pem';
const CHAIN = [
  'incomplete chain, or unknown authority',
  'send every intermediate; your authority: NODE_EXTRA_CA_CERTS=ca.pem',
] as const;
/** What is wrong and what helps, by the code of a certificate's verification. */
const CERTIFICATE_FAULTS: Readonly<Record<string, readonly [name: string, fix: string]>> = {
  CERT_HAS_EXPIRED: ['expired', 'renew the certificate, and let the server load it'],
  CERT_NOT_YET_VALID: ['not valid yet', 'check the clock of the machine that issued it'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['self-signed', UNTRUSTED],
  SELF_SIGNED_CERT_IN_CHAIN: ['unknown authority', UNTRUSTED],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CHAIN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CHAIN,
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'wrong name',
    'use a certificate with this host name as subject alternative name',
  ],
};

/** As long as a delivery waits for a connection. */
const CONNECT_TIMEOUT_MS = 3_000;

async function shakeHands({ hostname, port }: URL, options: ConnectionOptions) {
  const to = { host: hostname, servername: hostname, port: Number(port || 443), rejectUnauthorized: false };
  const socket = connect({ ...to, ALPNProtocols: ['http/1.1'], ...options });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    const version = String(socket.getProtocol()).replace('v1', ' 1').replace(/ 1$/, ' 1.0');
    const { subjectaltname, valid_to: until } = socket.getPeerCertificate();
    // Node takes the subject's name instead; a delivery does not.
    const named = subjectaltname === undefined ? 'ERR_TLS_CERT_ALTNAME_INVALID' : '';
    /** Why the certificate is refused; empty for a good one. */
    const refusal = socket.authorized ? named : String(socket.authorizationError);
    return { version, refusal, until: localTime(new Date(until)) };
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}

const OLD = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;

/** Explains why there was no handshake. A system error concerns the connection; any other concerns TLS. */
async function checkFailure(url: URL, code: string): Promise<Check> {
  if (/^(TIMEOUT$|E(CONN|HOST|NET))/.test(code))
    return fault('connection', `${code} (CONNECT)`, 'check that the receiver runs, and its firewall');
  if (code.includes('APPLICATION_PROTOCOL'))
    return fault('HTTP version', 'no HTTP/1.1', 'let the server speak HTTP/1.1 too');
  const found = await shakeHands(url, OLD).then(
    ({ version }) => `${version} only`,
    () => (/WRONG_VERSION_NUMBER|PACKET_LENGTH/.test(code) ? 'no TLS here' : code),
  );
  return fault('TLS version', found, 'let the server speak TLS 1.2 or 1.3');
}

/** Connects as a delivery does, and checks the certificate. */
export async function* checkTls(url: URL): AsyncGenerator<Check> {
  try {
    const { version, refusal, until } = await shakeHands(url, { minVersion: 'TLSv1.2' });
    yield ok('TLS version', version);
    const [name, fix] = CERTIFICATE_FAULTS[refusal] ?? [refusal, UNTRUSTED];
    yield refusal === '' ? ok('certificate', `valid until ${until}`) : fault('certificate', name, fix);
  } catch (error) {
    yield await checkFailure(url, describeError(error));
  }
}
