// Makes two OpenAPI documents for integrators out of those of the services: node packages/tooling/merge-openapi.mjs
// One has the calls of the services, the other what they send: generators of clients make calls of both, in files of one name.
// `--print` shows both instead of writing them; names of parts (files below the root) after it replace the services' own.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { parse, stringify } from 'yaml';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const CALLS = 'packages/client/openapi.yaml';
const NOTIFICATIONS = 'packages/client/notifications.yaml';

const HEADER = {
  openapi: '3.1.0',
  info: {
    title: 'Webhooks for instant payments',
    version: '1.0.0',
    summary: 'Receive payments as they happen, read what really happened, and see what was delivered.',
    description: [
      'Everything that an integrator can call, under one address: configurations, events, queries and the delivery log.',
      '',
      'Everything belongs to the tenant of the access token; what belongs to another tenant looks exactly like what does not',
      'exist. Every error is a problem (RFC 9457) with a stable `code`. The order of checks is: token (401), scope and tenant',
      '(403), limits (429 with `Retry-After`), body or query (422), work. A path that does not exist is 404, a method that',
      'does not exist is 405 with `Allow`, a header block over 16 KiB is 431. Words of an enumeration may grow: pass over',
      'those you do not know.',
      '',
    ].join('\n'),
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
};

/**
 * The parts, in the order of their paths. Components of one name must be equal, but for two kinds that are named here:
 * `own` ones mean something else in this part and get its prefix; `shared` ones are told in other words by a part before.
 */
const PROBLEM_ANSWERS = [
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'Unprocessable',
  'TooManyRequests',
  'Failed',
];
const PARTS = [
  { file: 'services/config-api/openapi.yaml' },
  {
    file: 'services/query-api/openapi.yaml',
    prefix: 'Query',
    own: ['schemas/Problem', ...[...PROBLEM_ANSWERS, 'MethodNotAllowed'].map((name) => `responses/${name}`)],
  },
  {
    file: 'services/ingest/openapi.yaml',
    prefix: 'Ingest',
    own: ['schemas/Problem', 'responses/Unauthorized'],
    shared: ['securitySchemes/accessToken', 'headers/RequestId', 'headers/RetryAfter'],
    tag: { name: 'events', description: 'For payment systems: what happened.' },
  },
];

/** The head of the document of what is sent. */
const NOTIFICATIONS_INFO = {
  ...HEADER.info,
  title: 'Notifications of the webhooks for instant payments',
  summary: 'What an endpoint receives.',
  description: 'Verify the signature, store the id, respond with 2xx, and ask for the real state.',
};

const REFERENCE = /^#\/components\/([^/]+\/[^/]+)$/;

/** A copy in which references follow components to their new names. */
function renamed(value, names) {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => {
      const target = member === '$ref' ? names.get(REFERENCE.exec(inner)?.[1]) : undefined;
      return [member, target === undefined ? renamed(inner, names) : `#/components/${target}`];
    }),
  );
}

/** Drops the pattern of a time. Python clients of openapi-generator would match it with a value that is no text any more. */
function withoutTimePattern(_, value) {
  if (/^date(-time)?$/.test(value?.format)) delete value.pattern;
  return value;
}

function readPart({ file, prefix = '', own = [], shared = [], tag }) {
  const names = new Map(own.map((path) => [path, path.replace('/', `/${prefix}`)]));
  const read = parse(readFileSync(resolve(ROOT, file), 'utf8'), withoutTimePattern);
  for (const path of [...own, ...shared]) {
    const [kind, name] = path.split('/');
    if (read.components?.[kind]?.[name] === undefined)
      throw new Error(`${file} has no component ${path} any more: take it off the list in merge-openapi.mjs`);
  }
  return { file, tag, names, shared: new Set(shared), ...renamed(read, names) };
}

/** Adds what is not there yet; one name for two things is an error. */
function addAll(target, added, { what, file, shared = new Set() }) {
  for (const [name, value] of Object.entries(added ?? {})) {
    const isKnown = Object.hasOwn(target, name);
    if (isKnown && !shared.has(`${what}/${name}`) && !isDeepStrictEqual(target[name], value))
      throw new Error(`${file}: ${what}/${name} is another one than in the parts before`);
    if (!isKnown) target[name] = value;
  }
}

function addComponents(components, { file, names, shared, ...part }) {
  for (const [what, added] of Object.entries(part.components ?? {})) {
    const entries = Object.entries(added).map(([name, value]) => {
      const [, to = name] = names.get(`${what}/${name}`)?.split('/') ?? [];
      return [to, value];
    });
    addAll((components[what] ??= {}), Object.fromEntries(entries), { what, file, shared });
  }
}

const OPERATIONS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];

/** The paths of a part, its operations tagged with the part's tag where they have none. */
const taggedPaths = ({ paths, tag }) =>
  Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([member, value]) =>
          tag && OPERATIONS.includes(member) ? [member, { tags: [tag.name], ...value }] : [member, value],
        ),
      ),
    ]),
  );

/** Every operation and outgoing call has a name of its own. */
function checkNames({ paths, webhooks }) {
  const seen = new Set();
  for (const item of [...Object.values(paths), ...Object.values(webhooks)]) {
    for (const { operationId } of OPERATIONS.flatMap((method) => item[method] ?? [])) {
      if (seen.has(operationId)) throw new Error(`two operations are called ${operationId}`);
      seen.add(operationId);
    }
  }
}

/** The paths `kind/name` of all components that a value refers to, also through other components. */
function referredBy(value, components, found = new Set()) {
  JSON.stringify(value, (member, inner) => {
    const path = member === '$ref' ? REFERENCE.exec(inner)?.[1] : undefined;
    if (path === undefined || found.has(path)) return inner;
    const [kind, name] = path.split('/');
    referredBy(components[kind]?.[name], components, found.add(path));
    return inner;
  });
  return found;
}

/** A document of some of the paths or webhooks, with the tags and components that it uses. */
function documentOf(head, part, { tags, components }) {
  const used = referredBy(part, components);
  const operations = Object.values(Object.values(part)[0]).flatMap((item) => Object.values(item));
  const kept = Object.entries(components).map(([kind, all]) => [
    kind,
    Object.fromEntries(
      Object.entries(all).filter(
        ([name]) => used.has(`${kind}/${name}`) || (kind === 'securitySchemes' && head.security),
      ),
    ),
  ]);
  return {
    ...head,
    tags: tags.filter(({ name }) => operations.some((one) => one.tags?.includes(name))),
    ...part,
    components: Object.fromEntries(kept.filter(([, all]) => Object.keys(all).length > 0)),
  };
}

function merge(parts) {
  const tags = {};
  const merged = { paths: {}, webhooks: {}, components: {} };
  for (const part of parts) {
    const { file } = part;
    const own = [...(part.tags ?? []), ...(part.tag ? [part.tag] : [])];
    addAll(tags, Object.fromEntries(own.map((tag) => [tag.name, tag])), { what: 'tags', file });
    addAll(merged.paths, taggedPaths(part), { what: 'paths', file });
    addAll(merged.webhooks, part.webhooks, { what: 'webhooks', file });
    addComponents(merged.components, part);
  }
  checkNames(merged);
  const { paths, webhooks, components } = merged;
  const all = { tags: Object.values(tags), components };
  return [
    [CALLS, documentOf({ ...HEADER, security: parts[0].security }, { paths }, all)],
    [NOTIFICATIONS, documentOf({ openapi: HEADER.openapi, info: NOTIFICATIONS_INFO }, { webhooks }, all)],
  ];
}

async function render([target, document]) {
  const note = "# Generated from the services' own documents: node packages/tooling/merge-openapi.mjs\n";
  const text = note + stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
  const path = join(ROOT, target);
  return [path, await format(text, { ...(await resolveConfig(path)), filepath: path })];
}

const [print, ...files] = process.argv.slice(2);
const parts = files.length > 0 ? files.map((file) => ({ file })) : PARTS;
const documents = await Promise.all(merge(parts.map(readPart)).map(render));
if (print === '--print') process.stdout.write(documents.map(([, text]) => text).join('---\n'));
else for (const [path, text] of documents) writeFileSync(path, text);
