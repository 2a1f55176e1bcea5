import { createConcurrencyLimiter } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { redeliveryOperations } from '../../src/redelivery/compose.js';
import type { RedeliveryParts } from '../../src/redelivery/compose.js';

const dryRun = (tenantId: string) =>
  ({
    identity: { tenantId, scopes: new Set() },
    header: () => 'application/json',
    body: Buffer.from(JSON.stringify({ from: '2026-11-21T13:00:00Z', status: 'dead', dryRun: true })),
  }) as unknown as ApiRequest;

it('counts for a tenant one thing at a time, and for another one beside it', async () => {
  const counting = Promise.withResolvers<{ matched: number; isLowerBound: boolean }>();
  const parts: Pick<RedeliveryParts, 'lists' | 'countMatches' | 'now'> = {
    lists: createConcurrencyLimiter({ total: 8 }),
    countMatches: () => counting.promise,
    now: () => Date.parse('2026-11-21T14:00:00Z'),
  };
  const start = redeliveryOperations(parts as RedeliveryParts).find(
    ({ method, path }) => method === 'POST' && path.endsWith('/redeliveries'),
  );
  const first = start?.handle(dryRun('acme'));
  await expect(start?.handle(dryRun('acme'))).rejects.toMatchObject({ code: 'too-many-requests' });
  const other = start?.handle(dryRun('beta'));
  counting.resolve({ matched: 3, isLowerBound: false });
  expect(await Promise.all([first, other])).toMatchObject([{ status: 200 }, { status: 200 }]);
  expect(await start?.handle(dryRun('acme'))).toMatchObject({ status: 200 });
});
