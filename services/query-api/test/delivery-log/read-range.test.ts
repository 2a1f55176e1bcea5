import { randomName } from '@webhooks/testkit';
import type { Database } from '../../src/database.js';
import { accessPathOf } from '../../src/delivery-log/access-path.js';
import type { DeliveryEntry } from '../../src/delivery-log/merge-entries.js';
import { FIRST_PLACE, LAST_PLACE } from '../../src/delivery-log/place.js';
import { readRange } from '../../src/delivery-log/read-range.js';
import { REF, T0, cancelled, dead, delivered, failed, packRecord } from './support/entries.js';
import { openLog } from './support/open-log.js';
import type { OpenLog } from './support/open-log.js';

let log: OpenLog;
beforeAll(async () => {
  log = await openLog(randomName('query_log'));
});
afterAll(() => log.close());

const RANGE = { low: FIRST_PLACE, high: LAST_PLACE };
const STATEMENTS = 7;
const later = { attempt: 2, at: T0 + 5_000 } as const;
const again = { cycle: 'r1', at: T0 + 60_000 } as const;

type Make = (place: { readonly tenantId: string }) => DeliveryEntry;
const CHANGES: readonly (readonly [string, Make, Make])[] = [
  ['pending, then delivered', (place) => failed({}, place), (place) => delivered(later, place)],
  ['pending, then dead', (place) => failed({}, place), (place) => dead(later, place)],
  ['pending, then cancelled', (place) => failed({}, place), (place) => cancelled(later, place)],
  ['dead, and delivered again', (place) => dead({}, place), (place) => delivered(again, place)],
  ['cancelled, and delivered again', (place) => cancelled({}, place), (place) => delivered(again, place)],
  ['dead, and under way again', (place) => dead({}, place), (place) => failed(again, place)],
  ['delivered, and under way again', (place) => delivered({}, place), (place) => failed(again, place)],
  [
    'delivered, and cancelled when sent again',
    (place) => delivered({}, place),
    (place) => cancelled(again, place),
  ],
  ['dead, and cancelled when sent again', (place) => dead({}, place), (place) => cancelled(again, place)],
  ['cancelled, and dead when sent again', (place) => cancelled({}, place), (place) => dead(again, place)],
];

describe('a range of places', () => {
  it.each(CHANGES)(
    'shows a delivery once that is %s, at whatever moment that comes',
    async (_, was, becomes) => {
      for (let moment = 0; moment <= STATEMENTS; moment += 1) {
        const place = { tenantId: randomName('tenant') };
        await log.apply(packRecord(was(place)));
        let statements = 0;
        // One statement after the other, and the change before one of them.
        let turn: Promise<unknown> = Promise.resolve();
        const ask: ReturnType<Database['within']> = (statement) => {
          const change = statements === moment ? packRecord(becomes(place)) : undefined;
          statements += 1;
          const asked = turn.then(async () => {
            if (change) await log.apply(change);
            return statement(log.models);
          });
          turn = asked;
          return asked;
        };
        const path = accessPathOf(place.tenantId, { ref: REF });
        const rows = await readRange(ask, path, RANGE, { direction: 'newest-first', limit: 10 });
        expect([statements, rows.map(({ _id }) => _id)]).toEqual([STATEMENTS, [was(place).deliveryId]]);
      }
    },
  );
});
