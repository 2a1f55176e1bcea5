import { Resolver } from 'node:dns/promises';
import { codeOf, SendFailure } from './send-failure.js';

/** All addresses of a host name, IPv4 and IPv6. Throws when there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ResolverOptions {
  /** How long one question to one server may take, default 800 ms; doubled by c-ares for each try. */
  readonly timeoutMs?: number;
  /** How often each server is asked, default 2. */
  readonly tries?: number;
  /** Addresses of name servers; default: those of the machine. */
  readonly servers?: readonly string[];
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

/**
 * Asks name servers itself (c-ares): no thread of libuv's pool of four is held by a slow name, and neither
 * /etc/hosts nor search domains apply, because the question is for the absolute name.
 */
export function createResolver({ timeoutMs = 800, tries = 2, servers }: ResolverOptions = {}): Resolve {
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  if (servers !== undefined) resolver.setServers(servers);
  return shareQuestions(async (host) => {
    const name = `${host}.`;
    const four = settle(resolver.resolve4(name));
    const six = settle(resolver.resolve6(name));
    const first = await Promise.race([four, six]);
    const both = Promise.all([four, six]);
    const answers =
      first.addresses.length > 0 ? await Promise.race([both, after(OTHER_FAMILY_MS, [first])]) : await both;
    const addresses = answers.flatMap((answer) => answer.addresses);
    if (addresses.length > 0) return addresses;
    throw new SendFailure('DNS', worstCode(answers.map((answer) => answer.code)));
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
