import { gzipSync } from 'node:zlib';
import type { Random } from '@webhooks/testkit';
import { mutateBytes } from '../mutants/mutate-bytes.js';
import { mutateJson } from '../mutants/mutate-json.js';
import { NASTY_TEXTS } from '../mutants/nasty.js';
import { renderRequest } from './request.js';
import type { Draft, FuzzRequest, Refusal, Template } from './request.js';
import { mutateWire } from './mutate-wire.js';

/** A draft, whether it is still for the template's operation, and how it has to be refused. */
interface Mutant {
  readonly draft: Draft;
  readonly isRouted: boolean;
  readonly expects?: Refusal;
}
type Mutation = (template: Template, random: Random) => Mutant;

/** What a header may hold (RFC 9110 §5.5): anything else makes a request that is none. */
const fieldValue = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '_');
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

const routed = (template: Template, changed: Partial<Draft>): Mutant => ({
  draft: { ...template, ...changed },
  isRouted: true,
});

function withHeader(template: Template, name: string, ...values: readonly string[]): Mutant {
  const others = template.headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase());
  return routed(template, { headers: [...others, ...values.map((value) => [name, value] as const)] });
}

const refused = (expects: Refusal, mutant: Mutant): Mutant => ({ ...mutant, expects });

const withBody = (template: Template, body: Buffer | string): Mutant =>
  routed(template, { body: Buffer.isBuffer(body) ? body : Buffer.from(body) });

const MEDIA_TYPES: readonly [string, ...string[]] = [
  'application/json; charset=utf-16',
  'APPLICATION/JSON;charset=utf-8;x="',
  'text/plain',
  'application/x-ndjson',
  'application/jsonl',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  ';',
  '',
];

const OTHER_METHODS: readonly [string, ...string[]] = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'PURGE',
];

/** A bearer token that is none any more. */
function spoilToken(token: string, random: Random): string {
  const [head = '', payload = '', signature = ''] = token.split('.');
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
  const admin = Buffer.from(JSON.stringify({ tenant_id: 'acme', exp: 1e12, iat: -1 })).toString('base64url');
  return random.pick([
    '',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    `bearer  ${head}.${payload}`,
    `Bearer ${none}.${payload}.`,
    `Bearer ${head}.${admin}.${signature}`,
    `Bearer ${head}.${payload}.${signature.slice(0, -4)}AAAA`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer ${'a'.repeat(9_000)}`,
    `Bearer ${fieldValue(random.pick(NASTY_TEXTS))}`,
    `Bearer ....`,
  ]);
}

const tokenOf = ({ headers }: Template): string =>
  (headers.find(([name]) => name === 'Authorization')?.[1] ?? '').slice('Bearer '.length);

/** The path with one segment more, less or otherwise. */
function otherPath(target: string, random: Random): string {
  const [path = '', query = ''] = target.split('?');
  const segments = path.split('/');
  const at = random.int(1, segments.length - 1);
  const nasty = random.pick([encoded(random.pick(NASTY_TEXTS)), '..', '.', '', '%', '%c0%af', '%2f', ';a=b']);
  const changed = random.chance(0.5) ? segments.with(at, nasty) : segments.toSpliced(at, 0, nasty);
  const text = random.chance(0.1) ? path.toUpperCase() : changed.join('/') || '/';
  return query === '' ? text : `${text}?${query}`;
}

function queryText(random: Random): string {
  const name = random.pick([
    'endToEndId',
    'ref',
    'eventId',
    'status',
    'from',
    'to',
    'limit',
    'cursor',
    'x',
    '',
  ]);
  const value = random.pick([encoded(random.pick(NASTY_TEXTS)), '%', '%ff', '[]', 'a&a', '1&limit=1', '=']);
  return random.pick([
    `${name}=${value}`,
    `${name}[]=${value}`,
    name,
    '&&&',
    `a=${'b'.repeat(3_000)}`,
    '?',
    '%00',
  ]);
}

const withQuery = (template: Template, random: Random): Mutant =>
  routed(template, {
    target: `${template.target}${template.target.includes('?') ? '&' : '?'}${queryText(random)}`,
  });

const MUTATIONS: readonly (readonly [weight: number, Mutation])[] = [
  [
    8,
    (template, random) =>
      withBody(template, mutateJson(random, template.value ?? { a: random.pick(NASTY_TEXTS) })),
  ],
  [2, (template, random) => withBody(template, mutateBytes(random, template.body))],
  [1, (template) => withBody(template, gzipSync(template.body))],
  [
    1,
    (template, random) =>
      withBody(template, Buffer.alloc(random.pick([1, 20_000, 1_048_577, 1_500_000]), '[')),
  ],
  [1, (template, random) => withHeader(template, 'Content-Type', random.pick(MEDIA_TYPES))],
  [
    1,
    (template, random) =>
      withHeader(
        template,
        'Content-Encoding',
        random.pick(['gzip', 'br', 'identity', 'deflate, gzip', 'x', '']),
      ),
  ],
  [
    2,
    (template, random) =>
      refused(401, withHeader(template, 'Authorization', spoilToken(tokenOf(template), random))),
  ],
  [1, (template) => refused(401, withHeader(template, 'Authorization'))],
  [
    1,
    (template, random) =>
      refused(403, withHeader(template, 'tenantid', fieldValue(random.pick(['acme', ...NASTY_TEXTS])))),
  ],
  [1, (template) => refused(403, withHeader(template, 'tenantid', 'acme', 'globex'))],
  [1, (template, random) => withHeader(template, 'X-Request-Id', fieldValue(random.pick(NASTY_TEXTS)))],
  [1, (template, random) => withHeader(template, random.pick(['__proto__', 'constructor', 'x']), 'y')],
  [1, (template, random) => withHeader(template, 'X-Long', 'z'.repeat(random.pick([8_000, 15_000, 17_000])))],
  [1, (template, random) => withHeader(template, 'Expect', random.pick(['100-continue', '200-ok', '']))],
  [1, (template) => withHeader(template, 'Accept', 'text/html;q=0.9, application/xml')],
  [
    1,
    (template, random) => ({ draft: { ...template, method: random.pick(OTHER_METHODS) }, isRouted: false }),
  ],
  [
    2,
    (template, random) => ({
      draft: { ...template, target: otherPath(template.target, random) },
      isRouted: false,
    }),
  ],
  [3, withQuery],
];

const BAG = MUTATIONS.flatMap(([weight, mutation]) => Array.from({ length: weight }, () => mutation));

/** Of so many inputs one is malformed HTTP. */
const WIRE_ONE_OF = 5;

/** The mutant of a template: one change of what it says, or of how it is said. */
export function mutateRequest(template: Template, random: Random): FuzzRequest {
  if (random.int(1, WIRE_ONE_OF) === 1) return mutateWire(template, random);
  const mutation = BAG[random.int(0, BAG.length - 1)] ?? withQuery;
  const { draft, isRouted, expects } = mutation(template, random);
  return {
    bytes: renderRequest(draft),
    method: draft.method,
    body: draft.body,
    isWire: false,
    ...(isRouted ? { path: template.path } : {}),
    ...(expects === undefined ? {} : { expects }),
  };
}
