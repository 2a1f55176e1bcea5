import { isIP } from 'node:net';
import type { SendTarget } from '../pool/exchange.js';

export interface UrlPolicy {
  readonly allowedPorts: readonly { readonly from: number; readonly to: number }[];
  /** Host names of the operator's services; compared without letter case. */
  readonly ownHosts: readonly string[];
  /** Development only: the host name `localhost` with a port from 1024 passes. */
  readonly allowLocalhost: boolean;
}

/** Default of `ENDPOINT_PORTS`. */
export const DEFAULT_PORTS = '443,8443,1024-65535';

export const DEFAULT_URL_POLICY: UrlPolicy = {
  allowedPorts: parsePortRanges(DEFAULT_PORTS),
  ownHosts: [],
  allowLocalhost: false,
};

export interface EndpointUrl extends SendTarget {
  readonly ok: true;
  /** Lower-case scheme and host, no default port, normalised path. Two spellings of one endpoint are equal here. */
  readonly normalized: string;
}

export type EndpointUrlCheck = EndpointUrl | { readonly ok: false; readonly reason: string };

const MAX_LENGTH = 2_048;
const FORBIDDEN_CHARACTER = /[^\x21-\x7e]|["<>\\^`{|}]/;
const SHAPE = /^https:\/\/([^/?#]+)/i;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const PORT = /^[1-9]\d{0,4}$/;
const INTERNAL_SUFFIXES: ReadonlySet<string> = new Set(
  'localhost local internal intranet lan home corp private svc arpa onion invalid test example localdomain alt'.split(
    ' ',
  ),
);

/** Checks a URL at registration. Pure: no name is resolved; addresses are checked at delivery. */
export function checkEndpointUrl(text: unknown, policy: UrlPolicy = DEFAULT_URL_POLICY): EndpointUrlCheck {
  const typed = readTyped(text);
  if (typeof typed === 'string') return refuse(typed);
  const { url, authority, parsed } = typed;
  const fault =
    authorityFault(authority, url) ??
    hostFault(authority, parsed, policy) ??
    portFault(authority, parsed, policy);
  if (fault !== undefined) return refuse(fault);
  return {
    ok: true,
    normalized: parsed.href,
    origin: parsed.origin,
    path: `${parsed.pathname}${parsed.search}`,
  };
}

const refuse = (reason: string): EndpointUrlCheck => ({ ok: false, reason });

/** Returns the parsed text, or the reason why it is invalid. */
function readTyped(text: unknown) {
  if (typeof text !== 'string') return 'is not a string';
  if (text.length === 0 || text.length > MAX_LENGTH)
    return `is empty or longer than ${MAX_LENGTH} characters`;
  if (FORBIDDEN_CHARACTER.test(text)) return 'holds a character outside the allowed set';
  const authority = SHAPE.exec(text)?.[1];
  if (authority === undefined) return 'does not begin with https:// and a host';
  const parsed = URL.parse(text);
  return parsed === null ? 'is refused by the URL parser' : { url: text, authority, parsed };
}

function authorityFault(authority: string, url: string): string | undefined {
  if (authority.includes('@')) return 'holds user information';
  return url.includes('#') ? 'holds a fragment' : undefined;
}

/**
 * Returns why the host is refused. The host as typed must equal the parsed host: this alone excludes octal, hex,
 * short, decimal and encoded forms.
 */
function hostFault(authority: string, { hostname }: URL, policy: UrlPolicy): string | undefined {
  if (splitAuthority(authority).host.toLowerCase() !== hostname)
    return 'has a host that differs from the parsed host';
  if (hostname.startsWith('[') || isIP(hostname) !== 0) return 'has an IP address as host';
  if (hostname === 'localhost' && policy.allowLocalhost) return undefined;
  if (hostname.length > 253) return 'has a host longer than 253 characters';
  if (policy.ownHosts.some((own) => own.toLowerCase() === hostname)) return 'has one of our own hosts';
  return labelsFault(hostname.split('.'));
}

function labelsFault(labels: readonly string[]): string | undefined {
  const last = labels.at(-1) ?? '';
  if (labels.includes('')) return 'has a host with an empty label or a trailing dot';
  if (labels.length < 2) return 'has a host with a single label';
  if (!labels.every((label) => LABEL.test(label)))
    return 'has a host label that is not letters, digits and inner hyphens, 1 to 63';
  if (/^\d+$/.test(last)) return 'has a host whose last label is a number';
  return INTERNAL_SUFFIXES.has(last) ? 'has a host under a reserved or internal suffix' : undefined;
}

function portFault(authority: string, parsed: URL, policy: UrlPolicy): string | undefined {
  const typed = splitAuthority(authority).port;
  if (typed !== undefined && !PORT.test(typed)) return 'has a port that is not written canonically';
  const port = portOf(parsed);
  if (parsed.hostname === 'localhost')
    return port >= 1_024 ? undefined : 'has a port below 1024 on localhost';
  if (policy.allowedPorts.some(({ from, to }) => from <= port && port <= to)) return undefined;
  const allowed = policy.allowedPorts.map(({ from, to }) => (from === to ? from : `${from}-${to}`));
  return `has a port that is not allowed; allowed are ${allowed.join(', ')}`;
}

function splitAuthority(authority: string): { host: string; port: string | undefined } {
  const colon = authority.lastIndexOf(':');
  if (colon === -1 || authority.endsWith(']')) return { host: authority, port: undefined };
  return { host: authority.slice(0, colon), port: authority.slice(colon + 1) };
}

const portOf = ({ port }: URL): number => (port === '' ? 443 : Number(port));

/** Parses ports such as `443,8443,1024-65535`. Throws with what was expected and what came. */
export function parsePortRanges(text: string): UrlPolicy['allowedPorts'] {
  return text.split(',').map((part) => {
    const [from, to] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim())?.slice(1) ?? [];
    const range = { from: Number(from), to: Number(to ?? from) };
    if (!(range.from >= 1 && range.from <= range.to && range.to <= 65_535)) {
      throw new Error(`expected ports such as 443,8443,1024-65535, got "${part}"`);
    }
    return range;
  });
}
