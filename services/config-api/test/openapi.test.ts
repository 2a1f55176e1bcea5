import {
  DATA_FIELDS,
  DATA_SCHEMAS,
  EVENT_TYPES,
  NOTIFICATION_KINDS,
  PATTERNS,
  PROBLEMS,
  renderNotification,
} from '@webhooks/contracts';
import { buildEvent, isObject } from '@webhooks/testkit';
import { createOperations } from '../src/webhooks/operations.js';
import type { OperationPorts } from '../src/webhooks/operations.js';
import { at, faultOf, openapi } from './support/openapi-check.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];
const paths = Object.entries(at('#/paths'));
const operations = paths.flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const operation = isObject(item) ? item[method] : undefined;
    return isObject(operation) ? [{ path, method, operation }] : [];
  }),
);

/** No operation is called here, so no part is needed. */
const routes = createOperations({} as OperationPorts);

/** Each value in the document under a member of this name. */
function under(name: string, value: unknown): unknown[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([member, inner]) => [
    ...(member === name ? [inner] : []),
    ...under(name, inner),
  ]);
}

describe('openapi.yaml', () => {
  it('describes exactly the operations that the service has, with scopes and query parameters', () => {
    const documented = operations.map(({ path, method, operation }) => {
      const { security, parameters } = operation;
      const query = Array.isArray(parameters) ? parameters.filter(isObject).map(({ name }) => name) : [];
      return JSON.stringify([method.toUpperCase(), path, security, query]);
    });
    const served = routes.map(({ method, path, scopes, query }) => {
      const template = path.replaceAll(/:(\w+)/g, '{$1}');
      return JSON.stringify([method, template, [{ accessToken: scopes }], Object.keys(query ?? {})]);
    });
    expect(documented.sort()).toEqual(served.sort());
  });

  it('declares 422 everywhere: a query may hold what no operation takes', () => {
    for (const { operation } of operations) expect(operation['responses']).toHaveProperty('422');
  });

  it('marks what goes beyond the specification', () => {
    for (const { path, operation } of operations)
      expect(operation['x-extension'] === true).toBe(path !== '/integration/v1/webhooks');
  });

  it('declares the statuses of the specification for POST and PUT', () => {
    for (const method of ['post', 'put']) {
      const statuses = Object.keys(at(`#/paths/~1integration~1v1~1webhooks/${method}/responses`));
      expect(statuses).toEqual(['200', '401', '403', '422', '429', '431', '500']);
    }
  });

  it('names only problem codes that exist, each with its status and title', () => {
    const { enum: codes } = at('#/components/schemas/ProblemCode');
    const known = Object.keys(PROBLEMS);
    expect(Array.isArray(codes) && codes.every((code) => known.includes(String(code)))).toBe(true);
    const problems = Object.values(PROBLEMS).map(({ status, title }) => `${status} ${title}`);
    const examples = under('value', openapi['components'])
      .filter(isObject)
      .filter((value) => 'code' in value);
    expect(examples.length).toBeGreaterThan(8);
    for (const { status, title } of examples)
      expect(problems).toContain(`${String(status)} ${String(title)}`);
  });

  it('has examples that follow their own schemas', () => {
    const schemas = {
      '#/components/schemas/Problem': under('value', at('#/components/responses')).filter(
        (value) => isObject(value) && 'code' in value,
      ),
      '#/components/schemas/WebhookRegistration': under(
        'value',
        at('#/paths/~1integration~1v1~1webhooks/post/requestBody'),
      ),
      '#/components/schemas/WebhookUpdate': under(
        'value',
        at('#/paths/~1integration~1v1~1webhooks/put/requestBody'),
      ),
      '#/components/schemas/Webhook': [at('#/components/examples/webhook/value')],
      '#/components/schemas/WebhookList': [at('#/components/examples/list/value')],
      '#/components/schemas/WebhookAnswer': under('value', at('#/components/responses/Configured')),
      '#/components/schemas/WebhookSecret': under(
        'value',
        at('#/paths/~1integration~1v1~1webhooks~1{ref}~1secret/post/responses/200'),
      ),
      '#/components/schemas/ChangeList': under(
        'value',
        at('#/paths/~1integration~1v1~1webhooks~1{ref}~1changes/get/responses/200'),
      ),
      '#/components/schemas/AlertEndpointInput': under(
        'value',
        at('#/paths/~1integration~1v1~1alert-endpoints/post/requestBody'),
      ),
      '#/components/schemas/AlertEndpointAnswer': under(
        'value',
        at('#/paths/~1integration~1v1~1alert-endpoints/post/responses/200'),
      ),
      '#/components/schemas/AlertEndpointList': under(
        'value',
        at('#/paths/~1integration~1v1~1alert-endpoints/get/responses/200'),
      ),
      '#/components/schemas/DeliveryPolicyInput': under(
        'value',
        at('#/paths/~1integration~1v1~1webhooks~1{ref}~1policy/put/requestBody'),
      ),
      '#/components/schemas/DeliveryPolicyAnswer': [at('#/components/examples/policy/value')],
    };
    for (const [pointer, values] of Object.entries(schemas)) {
      expect(values.length).toBeGreaterThan(0);
      for (const value of values) expect(faultOf(pointer, value)).toBeUndefined();
    }
  });

  it('gives a ref the form that the code gives it', () => {
    expect(at('#/components/schemas/Ref')['pattern']).toBe(PATTERNS.ref);
    expect(at('#/components/schemas/GivenRef')['pattern']).toBe(PATTERNS.givenRef);
  });
});

describe('the notifications of openapi.yaml', () => {
  const pointerOf = (type: string) => `#/webhooks/${type}/post/requestBody/content/application~1json`;

  it('are of all kinds', () => {
    expect(Object.keys(at('#/webhooks'))).toEqual([...NOTIFICATION_KINDS]);
  });

  it('describe alerts in both formats', () => {
    const { examples } = at(pointerOf('ENDPOINT_ALERT'));
    const [event, text] = under('value', examples);
    expect(faultOf('#/components/schemas/Alert', event)).toBeUndefined();
    expect(faultOf('#/components/schemas/AlertText', text)).toBeUndefined();
  });

  it.each(EVENT_TYPES)('have the fields that the worker sends for %s', (type) => {
    const data = at(`${pointerOf(type)}/schema/properties/data`);
    expect(data['required']).toEqual(DATA_SCHEMAS[type].required);
    expect(Object.keys(at(`${pointerOf(type)}/schema/properties/data/properties`))).toEqual(
      DATA_FIELDS[type],
    );
  });

  it.each(EVENT_TYPES)('describe the body that is made for %s', (type) => {
    const body: unknown = JSON.parse(String(renderNotification(buildEvent({ eventType: type }))));
    const { schema, examples } = at(pointerOf(type));
    const pointer = isObject(schema) ? String(schema['$ref']) : '';
    expect(faultOf(pointer, body)).toBeUndefined();
    for (const example of under('value', examples)) expect(faultOf(pointer, example)).toBeUndefined();
  });
});
