import {
  EVENT_TYPES,
  MAX_HISTORY_CHARACTERS,
  MAX_PACK_ENTRIES,
  NOTIFICATION_KINDS,
  PATTERNS,
  RETRY_TIERS,
  TOPIC_TABLE,
} from '../src/index.js';
import { asyncapi, at, faultsOf, faultsOfDocuments, isObject, text } from './support/asyncapi.js';
import type { Json } from './support/asyncapi.js';
import { configurationMessage, endToEndId } from './support/sample-messages.js';

describe('asyncapi.yaml', () => {
  it('is valid without a network, and an invalid document is found', () => {
    const [faults, ...damaged] = faultsOfDocuments(
      text,
      text.replace('action: send', 'action: publish'),
      text.replace("'#/components/messages/event'", "'#/nowhere'"),
    );
    expect(faults).toEqual([]);
    expect(damaged).toHaveLength(2);
    for (const found of damaged) expect(found).not.toEqual([]);
  });

  it('has the partitions and the configuration of every topic', () => {
    const described = Object.keys(at('channels')).flatMap((name) => {
      const { address, parameters } = at('channels', name);
      const tier = isObject(parameters) ? at('channels', name, 'parameters', 'tier')['enum'] : [''];
      const { partitions, topicConfiguration } = at('channels', name, 'bindings', 'kafka');
      const configs = Object.entries(topicConfiguration as Json).map(([key, value]) => [key, String(value)]);
      return (tier as readonly string[]).map((word) => ({
        name: String(address).replace('{tier}', word),
        partitions,
        configs: Object.fromEntries(configs) as Json,
      }));
    });
    expect(described).toEqual(TOPIC_TABLE);
  });

  it('has the writers and readers of every topic', () => {
    const told = Object.values(at('operations')).map((operation) => {
      const { action, channel } = operation as { action: string; channel: { $ref: string } };
      return `${action} ${channel.$ref.slice('#/channels/'.length)}`;
    });
    for (const channel of Object.keys(at('channels')))
      for (const action of ['send', 'receive']) expect(told).toContain(`${action} ${channel}`);
  });

  it('names the retry tiers in their order', () => {
    expect(at('channels', 'retries', 'parameters', 'tier')['enum']).toEqual(
      RETRY_TIERS.map(({ name }) => name),
    );
  });

  it('has the words, patterns and bounds of the code', () => {
    const schema = (...path: readonly string[]): Json => at('components', 'schemas', ...path);
    expect(schema('EventType')['enum']).toEqual(EVENT_TYPES);
    expect(schema('NotificationKind')['enum']).toEqual(NOTIFICATION_KINDS);
    expect(schema('EventId')['pattern']).toBe(PATTERNS.eventId);
    expect(schema('TenantId')['pattern']).toBe(PATTERNS.tenantId);
    expect(schema('EndToEndId')['pattern']).toBe(PATTERNS.endToEndId);
    expect(schema('Money')['pattern']).toBe(PATTERNS.money);
    expect(schema('UtcTime')['pattern']).toBe(PATTERNS.utcTime);
    expect(schema('AttemptPack', 'properties', 'records')['maxItems']).toBe(MAX_PACK_ENTRIES);
    expect(schema('TaskHeaders', 'properties', 'history')['maxLength']).toBe(MAX_HISTORY_CHARACTERS);
  });

  it('has examples that are messages', () => {
    const { messages } = asyncapi['components'] as { messages: Readonly<Record<string, Json>> };
    const shown = Object.entries(messages).flatMap(([name, { examples }]) =>
      ((examples ?? []) as readonly Json[]).map((example) => ({ name, example })),
    );
    expect(shown.map(({ name }) => name)).toEqual(['event', 'configuration', 'deliveryTask', 'attemptPack']);
    const keys: Readonly<Record<string, string | null>> = {
      configuration: configurationMessage.key,
      attemptPack: '9b1f03ac-1',
    };
    for (const { name, example } of shown) {
      const headers = (example['headers'] ?? {}) as Record<string, string>;
      const key = keys[name] ?? headers['delivery-id'] ?? endToEndId;
      expect([name, faultsOf(name, { key, headers, value: example['payload'] })]).toEqual([name, []]);
    }
  });
});
