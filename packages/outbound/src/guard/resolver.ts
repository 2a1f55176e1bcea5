import { Resolver } from 'node:dns/promises';
import { readFileSync, statSync } from 'node:fs';
import { codeOf, NAME_SERVERS_SILENT, SendFailure } from '../send-failure.js';

/** All addresses of a host name, IPv4 and IPv6. Throws when there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ResolverOptions {
  /** How long one question to one server may take, default 800 ms; doubled by c-ares for each try. */
  readonly timeoutMs?: number;
  /** How often each server is asked, default 2. */
  readonly tries?: number;
  /** Names the name servers (resolv.conf(5)), default `/etc/resolv.conf`. Read again when it has changed. */
  readonly file?: string;
}

/** How long the second family may take once the first one has answered (RFC 8305 §3 names 50 ms for connecting). */
const OTHER_FAMILY_MS = 250;

/**
 * Those who ask for a name while it is being asked for get the same answer: a burst of connections to one endpoint is
 * one question, not hundreds that a name server drops. Nothing is kept: whoever asks after the answer asks anew.
 */
function shareQuestions(resolve: Resolve): Resolve {
  const open = new Map<string, Promise<readonly string[]>>();
  return (host) => {
    const asked = open.get(host);
    if (asked !== undefined) return asked;
    const question = resolve(host).finally(() => open.delete(host));
    open.set(host, question);
    return question;
  };
}

/** The resolver for the name servers that the file names now. A file that is away, or names none, changes nothing. */
function followFile(file: string, options: { readonly timeout: number; readonly tries: number }) {
  let resolver = new Resolver(options);
  let readAt: number | undefined;
  return (): Resolver => {
    const changedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (changedAt === undefined || changedAt === readAt) return resolver;
    readAt = changedAt;
    const servers = [...readFileSync(file, 'utf8').matchAll(/^nameserver\s+(\S+)/gm)].map(
      ([, at = '']) => at,
    );
    if (servers.length === 0) return resolver;
    // Questions under way stay with the old one.
    resolver = new Resolver(options);
    resolver.setServers(servers);
    return resolver;
  };
}

const NO_ANSWER: ReadonlySet<string> = new Set(['ETIMEOUT', 'ECONNREFUSED']);

/** Whether no name server says anything, even of the root: then it is no fault of whoever has the name. */
const areSilent = async (resolver: Resolver): Promise<boolean> =>
  NO_ANSWER.has(
    await resolver.resolveNs('.').then(
      () => '',
      (error: unknown) => codeOf(error, ''),
    ),
  );

/**
 * Asks name servers itself (c-ares): no thread of libuv's pool of four is held by a slow name, and neither
 * /etc/hosts nor search domains apply, because the question is for the absolute name.
 */
export function createResolver(options: ResolverOptions = {}): Resolve {
  const { timeoutMs = 800, tries = 2, file = '/etc/resolv.conf' } = options;
  const resolverNow = followFile(file, { timeout: timeoutMs, tries });
  const rootResolverNow = followFile(file, { timeout: timeoutMs, tries: 1 });
  return shareQuestions(async (host) => {
    const resolver = resolverNow();
    const name = `${host}.`;
    let addresses: readonly string[] = [];
    // Beside the second try, so that both end within an attempt's time to connect.
    const silence = after(timeoutMs, undefined).then(
      () => addresses.length === 0 && areSilent(rootResolverNow()),
    );
    const four = settle(resolver.resolve4(name));
    const six = settle(resolver.resolve6(name));
    const first = await Promise.race([four, six]);
    const both = Promise.all([four, six]);
    const answers =
      first.addresses.length > 0 ? await Promise.race([both, after(OTHER_FAMILY_MS, [first])]) : await both;
    addresses = answers.flatMap((answer) => answer.addresses);
    if (addresses.length > 0) return addresses;
    const code = worstCode(answers.map((answer) => answer.code));
    throw new SendFailure('DNS', NO_ANSWER.has(code) && (await silence) ? NAME_SERVERS_SILENT : code);
  });
}

interface FamilyAnswer {
  readonly addresses: readonly string[];
  readonly code: string;
}

async function settle(question: Promise<string[]>): Promise<FamilyAnswer> {
  try {
    return { addresses: await question, code: 'ENODATA' };
  } catch (error) {
    return { addresses: [], code: codeOf(error, 'DNS_FAILED') };
  }
}

function after<T>(ms: number, value: T): Promise<T> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value), ms).unref();
  });
}

/** "No such data" for one family says less than a fault of the other. */
function worstCode(codes: readonly string[]): string {
  return codes.find((code) => code !== 'ENODATA') ?? 'ENODATA';
}
