import { Resolver } from 'node:dns/promises';
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { codeOf, NAME_SERVERS_UNREACHABLE, SendFailure } from '../send-failure.js';

/** Returns all addresses of a host name, IPv4 and IPv6. Rejects when there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ResolverOptions {
  /** Longest time of one query to one server, milliseconds; default 800. c-ares doubles it for each try. */
  readonly timeoutMs?: number;
  /** Queries to each name server; default 2. */
  readonly tries?: number;
  /** The file that names the name servers (resolv.conf(5)); default `/etc/resolv.conf`. Read again when it has changed. */
  readonly file?: string;
}

/** Longest wait for the second address family after the answer for the first one, milliseconds (RFC 8305 §3 has 50). */
const OTHER_FAMILY_MS = 250;

/**
 * Shares one query for a name among concurrent callers. A name server would drop some of hundreds of queries.
 * Answers are not cached: the next caller sends a new query.
 */
function shareQueries(resolve: Resolve): Resolve {
  const open = new Map<string, Promise<readonly string[]>>();
  return (host) => {
    const query = open.get(host) ?? resolve(host).finally(() => open.delete(host));
    open.set(host, query);
    return query;
  };
}

/** The address of a name server in resolv.conf, and no name. As in libc, the rest of its line is ignored. */
const ADDRESS = /^nameserver[ \t]+([\d.:a-f[\]]+(?:%\w+)?)(?=\s|$)/gim;

/**
 * Returns a function that returns a resolver for the name servers in the file, which is read again when it changes.
 * A file that is missing, cannot be read or names no server by its address changes nothing.
 */
function followFile(file: string, options: { readonly timeout: number; readonly tries: number }) {
  let resolver = new Resolver(options);
  let readAt: number | undefined;
  return (): Resolver => {
    try {
      const changedAt = statSync(file).mtimeMs;
      if (changedAt === readAt) return resolver;
      const servers = [...readFileSync(file, 'utf8').matchAll(ADDRESS)].map(([, at = '']) => at);
      if (servers.length > 0) {
        // Queries in flight stay with the old resolver.
        const next = new Resolver(options);
        next.setServers(servers);
        resolver = next;
      }
      readAt = changedAt;
    } catch {
      // The servers stay, and the file is read again at the next query.
    }
    return resolver;
  };
}

const NO_ANSWER: ReadonlySet<string> = new Set(['ETIMEOUT', 'ECONNREFUSED']);

/** Whether no name server responds to a query for the root. Then the endpoint is not at fault. */
const areUnreachable = async (resolver: Resolver): Promise<boolean> =>
  NO_ANSWER.has(
    await resolver.resolveNs('.').then(
      () => '',
      (error: unknown) => codeOf(error, ''),
    ),
  );

/**
 * Creates a resolver that queries name servers with c-ares, so that a slow name blocks none of libuv's four threads.
 * It queries the absolute name, so neither /etc/hosts nor search domains apply.
 */
export function createResolver(options: ResolverOptions = {}): Resolve {
  const { timeoutMs = 800, tries = 2, file = '/etc/resolv.conf' } = options;
  const resolverNow = followFile(file, { timeout: timeoutMs, tries });
  const rootResolverNow = followFile(file, { timeout: timeoutMs, tries: 1 });
  return shareQueries(async (host) => {
    const resolver = resolverNow();
    const rootResolver = rootResolverNow();
    const name = `${host}.`;
    let mayBeOutage = true;
    // The root is queried in parallel with the second try, so that both end within the connect timeout.
    const outage = after(timeoutMs, undefined, { ref: false }).then(
      () => mayBeOutage && areUnreachable(rootResolver),
    );
    const four = resolveFamily(resolver.resolve4(name));
    const six = resolveFamily(resolver.resolve6(name));
    const first = await Promise.race([four, six]);
    const both = Promise.all([four, six]);
    const bounded = () => Promise.race([both, after(OTHER_FAMILY_MS, [first], { ref: false })]);
    const answers = first.addresses.length > 0 ? await bounded() : await both;
    const addresses = answers.flatMap((answer) => answer.addresses);
    // "No such data" for one family is less useful than a fault of the other.
    const { code } = answers.find((answer) => answer.code !== 'ENODATA') ?? first;
    mayBeOutage = addresses.length === 0 && NO_ANSWER.has(code);
    if (addresses.length > 0) return addresses;
    throw new SendFailure('DNS', mayBeOutage && (await outage) ? NAME_SERVERS_UNREACHABLE : code);
  });
}

/** Returns the addresses of one family, or the code of the failure. */
async function resolveFamily(query: Promise<string[]>) {
  try {
    return { addresses: await query, code: 'ENODATA' };
  } catch (error) {
    return { addresses: [], code: codeOf(error, 'DNS_FAILED') };
  }
}
