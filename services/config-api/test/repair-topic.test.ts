import { repairKey } from '../src/repair-topic.js';
import type { RepairPorts } from '../src/repair-topic.js';
import type { Configuration } from '../src/configuration.js';

const document: Configuration = {
  ...{ tenantId: 'acme', ref: 'a', position: 1, revision: 2, publishedRevision: 1, enabled: false },
  ...{ eventType: 'PIX_OUT', endpointUrl: 'https://a.com.br', normalizedUrl: 'https://a.com.br/' },
  ...{ createdAt: new Date(0), updatedAt: new Date(1), secrets: [] },
};

function portsWith(confirmed: boolean): RepairPorts & { readonly sent: Configuration[] } {
  const sent: Configuration[] = [];
  return {
    sent,
    lastOf: () => ({ revision: 1, updatedAt: 0, highest: 1, highestAt: 0 }),
    findByKey: () => Promise.resolve(document),
    page: () => Promise.resolve([]),
    replace: () => Promise.resolve('stale'),
    confirm: () => Promise.resolve(confirmed),
    republish: (configuration) => Promise.resolve(sent.push(configuration) > 0),
    now: () => new Date(),
  };
}

it.each([
  [true, 'repaired', [document]],
  [false, 'failed', []],
])('a change that a majority has (%s) is %s on the topic', async (confirmed, repair, sent) => {
  const ports = portsWith(confirmed);
  expect(await repairKey('acme/a', ports)).toBe(repair);
  expect(ports.sent).toEqual(sent);
});
