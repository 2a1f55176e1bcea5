import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { breaksOfAsyncApi, breaksOfOpenApi } from './support/breaking-changes.js';

const PACKAGES = join(import.meta.dirname, '..', '..');
const text = (...path: string[]): string => readFileSync(join(PACKAGES, ...path), 'utf8');
const releasesOf = (name: string): readonly string[] => readdirSync(join(PACKAGES, name, 'released'));

type OpenApi = Readonly<Record<'components', Readonly<Record<string, object>>>>;

/** The calls and the notifications as one document, as they were released. */
function withNotifications(calls: unknown): unknown {
  const notifications = parse(text('client', 'notifications.yaml')) as OpenApi;
  const [now, more] = [(calls as OpenApi).components, notifications.components];
  const kinds = [...new Set([...Object.keys(now), ...Object.keys(more)])];
  const components = Object.fromEntries(kinds.map((kind) => [kind, { ...more[kind], ...now[kind] }]));
  return { ...notifications, ...(calls as OpenApi), components };
}

const KINDS = [
  {
    ...{ name: 'client', document: 'openapi.yaml' },
    breaks: (released: unknown, now: unknown) => breaksOfOpenApi(released, withNotifications(now)),
  },
  { name: 'contracts', document: 'asyncapi.yaml', breaks: breaksOfAsyncApi },
];
const openApi = text('client', 'openapi.yaml');
const asyncApi = text('contracts', 'asyncapi.yaml');

/** The document with one change, which must find its place. */
function changed(source: string, found: string | RegExp, put: string): unknown {
  const doctored = source.replace(found, put);
  if (doctored === source) throw new Error(`nothing to change: ${String(found)}`);
  return parse(doctored);
}

describe.each(KINDS)('$document', ({ name, document, breaks }) => {
  it.each(releasesOf(name))('breaks nothing that %s promises', (released) => {
    expect(breaks(parse(text(name, 'released', released)), parse(text(name, document)))).toEqual([]);
  });

  it('has the first release among the kept copies', () => {
    expect(releasesOf(name)).toContain(document.replace('.yaml', '-0.2.0.yaml'));
  });
});

describe('a change of openapi.yaml breaks somebody', () => {
  it.each<[string, string | RegExp, string, string]>([
    [
      'a path is renamed',
      '/pix/cob/{txId}:',
      '/pix/charge/{txId}:',
      '/integration/v1/pix/cob/{txId}: was removed',
    ],
    [
      'an operation goes',
      /^ {4}delete:$/m,
      '    patch:',
      '/integration/v1/webhooks/{ref}/secret delete: was removed',
    ],
    ['a member of a response goes', /^ {8}hasSecret:$/m, '        signed:', ' hasSecret: was removed'],
    ['a member of a response may be absent', '        - hasMore\n', '', ' hasMore: may be absent now'],
    [
      'a member has another type',
      /(hasMore:\n\s+type:) boolean/,
      '$1 string',
      ' hasMore: is string, was boolean',
    ],
    [
      'a request needs one more member',
      /(WebhookRegistration:\n(?:.*\n)*?\s+required:\n)/,
      '$1        - applicationId\n',
      'post body application/json applicationId: is required now',
    ],
    [
      'a word is not taken any more',
      /(\n {4}EventType:\n(?:.*\n)*?) {8}- PIX_OUT\n/,
      '$1',
      'does not take PIX_OUT any more',
    ],
    [
      'a parameter is required',
      /- name: applicationId\n/,
      '$&          required: true\n',
      'query applicationId: is required now',
    ],
    [
      'a parameter goes',
      /- name: applicationId\n/,
      '- name: application\n',
      'query applicationId: was removed',
    ],
    [
      'a bound is lower',
      /(name: wait\n(?:.*\n)*?\s+maximum:) 25/,
      '$1 20',
      'query wait: has a lower maximum',
    ],
    [
      'a success has another status',
      /(operationId: sendTest\n(?:.*\n)*?\s+)'202':/,
      "$1'201':",
      'test post 202: was removed',
    ],
    ['another scope is needed', /- webhook\.read\n/, '- webhook.list\n', 'needs the scope webhook.list now'],
  ])('when %s', (_, found, put, expected) => {
    const breaks = breaksOfOpenApi(parse(openApi), changed(openApi, found, put));
    expect(breaks.some((line) => line.endsWith(expected))).toBe(true);
  });

  it.each<[string, string | RegExp, string]>([
    [
      'a member more in a response',
      /^ {8}hasSecret:$/m,
      '        more:\n          type: string\n        hasSecret:',
    ],
    ['an operation more', /^ {2}\/integration\/v1\/webhooks:$/m, '  /integration/v1/more:\n    get: {}\n$&'],
    ['a parameter more', /- name: applicationId\n/, '- name: more\n          in: query\n        $&'],
    [
      'a word more',
      /(\n {4}EventType:\n(?:.*\n)*?) {8}- PIX_OUT\n/,
      '$1        - PIX_OUT\n        - PIX_NEXT\n',
    ],
  ])('but %s does not', (_, found, put) => {
    expect(breaksOfOpenApi(parse(openApi), changed(openApi, found, put))).toEqual([]);
  });
});

describe('a change of notifications.yaml breaks somebody', () => {
  const notifications = text('client', 'notifications.yaml');

  it.each<[string, string | RegExp, string, string]>([
    [
      'a notification loses a member',
      /(DynamicPaidNotification:\n(?:.*\n)*?\s+)occurredAt:/,
      '$1at:',
      ' occurredAt: was removed',
    ],
  ])('when %s', (_, found, put, expected) => {
    const breaks = breaksOfOpenApi(parse(notifications), changed(notifications, found, put));
    expect(breaks.some((line) => line.endsWith(expected))).toBe(true);
  });
});

describe('a change of asyncapi.yaml breaks somebody', () => {
  it.each<[string, string | RegExp, string, string]>([
    ['a channel goes', /^ {2}rejected:$/m, '  refused:', 'rejected: was removed'],
    [
      'a topic has another name',
      'address: webhooks.attempts',
      'address: webhooks.tries',
      'attempts: has another address',
    ],
    [
      'a message goes',
      /^ {6}damagedTask:\n {8}\$ref/m,
      '      damaged:\n        $ref',
      'deadLetters damagedTask: was removed',
    ],
    ['a header goes', /^ {8}delivery-id:/m, '        delivery:', ' delivery-id: was removed'],
    [
      'an event needs one more member',
      /required: \[id, eventType, tenantId, occurredAt/,
      '$&, source',
      ' source: is required now',
    ],
  ])('when %s', (_, found, put, expected) => {
    const breaks = breaksOfAsyncApi(parse(asyncApi), changed(asyncApi, found, put));
    expect(breaks.some((line) => line.endsWith(expected))).toBe(true);
  });
});
