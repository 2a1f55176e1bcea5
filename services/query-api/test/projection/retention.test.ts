import { eventually } from '@webhooks/testkit';
import { startQueryApi } from '../support/start-query-api.js';
import type { RunningQueryApi } from '../support/start-query-api.js';

let service: RunningQueryApi;
beforeAll(async () => {
  service = await startQueryApi();
}, 60_000);
afterAll(() => service.stop(), 30_000);

it('the metrics have the used share of the retention of each projection', async () => {
  const told = async (): Promise<readonly string[]> =>
    (await service.metrics()).match(/^webhook_retention_used_ratio\{source="\w+"\} \d/gmu) ?? [];
  await eventually(async () => expect(await told()).toHaveLength(3), { timeoutMs: 10_000 });
});
