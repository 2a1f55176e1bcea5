import { PAGE } from '../../src/store/configuration-store.js';
import { repairAll, repairOne } from '../../src/publication/repair-topic.js';
import type { RepairPorts } from '../../src/publication/repair-topic.js';
import type { Configuration } from '../../src/webhooks/configuration.js';

const document: Configuration = {
  ...{ tenantId: 'acme', ref: 'a', position: 1, revision: 2, publishedRevision: 1, enabled: false },
  ...{ eventType: 'PIX_OUT', endpointUrl: 'https://a.com.br', normalizedUrl: 'https://a.com.br/' },
  ...{ createdAt: new Date(0), updatedAt: new Date(1), secrets: [], policy: {} },
};

const ON_TOPIC = { tenantId: 'acme', ref: 'a', revision: 1, updatedAt: 0 };

function portsWith(confirmed: boolean): RepairPorts & { readonly sent: Configuration[] } {
  const sent: Configuration[] = [];
  return {
    sent,
    topicState: { stateOf: () => ({ last: ON_TOPIC, applied: ON_TOPIC }) },
    findByRef: () => Promise.resolve(document),
    page: () => Promise.resolve([]),
    replace: () => Promise.resolve('stale'),
    confirm: () => Promise.resolve(confirmed),
    republish: (configuration) => Promise.resolve(sent.push(configuration) > 0),
    now: () => new Date(),
    noteRepair: () => undefined,
  };
}

it.each([
  [true, [document]],
  [false, []],
])('a change that a majority has (%s) is published again, and no other', async (confirmed, sent) => {
  const ports = portsWith(confirmed);
  expect(await repairOne(document, ports)).toBe(confirmed);
  expect(ports.sent).toEqual(sent);
});

it('a comparison that is stopped before its last page is not done: the topic must not be called complete', async () => {
  const stopping = new AbortController();
  const onPage = { ...document, revision: 1, updatedAt: new Date(0) };
  const page = (): Promise<Configuration[]> => {
    stopping.abort();
    return Promise.resolve(Array.from({ length: PAGE }, () => onPage));
  };
  expect(await repairAll({ ...portsWith(true), page }, stopping.signal)).toBe(false);
});
