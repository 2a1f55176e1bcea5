import { SettingsReader } from '@webhooks/runtime';
import { randomName } from '@webhooks/testkit';
import { readRetention } from '../src/config.js';
import type { Models } from '../src/database.js';
import type { Retention } from '../src/documents.js';
import { openTestDatabase } from './payments/support/open-test-database.js';

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

const read = (env: Readonly<Record<string, string>>) => {
  const settings = new SettingsReader(env);
  return { retention: readRetention(settings), faults: settings.faults };
};

describe('the settings', () => {
  it('keep log and notifications for 30 days, and payments for ever', () => {
    const retention = { logMs: 30 * DAY_MS, notificationMs: 30 * DAY_MS, transactionMs: undefined };
    expect(read({})).toEqual({ retention, faults: [] });
    const env = { LOG_RETENTION: '12h', NOTIFICATION_RETENTION: '7d', TRANSACTION_RETENTION: '7d' };
    expect(read(env).retention).toEqual({
      logMs: DAY_MS / 2,
      notificationMs: 7 * DAY_MS,
      transactionMs: 7 * DAY_MS,
    });
  });

  it.each([
    [{ LOG_RETENTION: '30' }, 'LOG_RETENTION: expected a duration'],
    [{ NOTIFICATION_RETENTION: '5ms' }, 'NOTIFICATION_RETENTION: expected at least 1s'],
    [{ LOG_RETENTION: '24856d' }, 'LOG_RETENTION: expected at least 1s and at most 24855d'],
    [{ TRANSACTION_RETENTION: 'none' }, 'TRANSACTION_RETENTION: expected a duration'],
    [{ TRANSACTION_RETENTION: '29d' }, 'TRANSACTION_RETENTION must not be shorter'],
  ])('are refused when they cannot be meant: %j', (env, fault) => {
    expect(read(env).faults).toEqual([expect.stringContaining(fault)]);
  });
});

describe('the database', () => {
  const name = randomName('query_retention');
  /** Each index with an end, and what the next start would change. */
  async function openedWith(retention: Partial<Retention>) {
    const opened = await openTestDatabase(name, { ...read({}).retention, ...retention });
    const models = opened.database.models() as Models;
    const endsOf = async ({ collection }: Models['deliveries'] | Models['events']) =>
      (await collection.indexes()).flatMap(({ key, expireAfterSeconds: end }) =>
        end === undefined ? [] : [[Object.keys(key).join(), end]],
      );
    const changes: unknown[] = [];
    for (const model of Object.values(models)) {
      const { toDrop, toCreate } = await model.diffIndexes();
      changes.push(toDrop, toCreate);
    }
    const result = {
      deliveries: await endsOf(models.deliveries),
      events: await endsOf(models.events),
      changes: changes.flat(),
    };
    await opened.close();
    return result;
  }

  it('removes documents that are older than the current setting, whatever was set when they were written', async () => {
    const log = [['updatedAt', 30 * DAY_SECONDS]];
    const tests = [['testAt', 30 * DAY_SECONDS]];
    expect(await openedWith({})).toEqual({ deliveries: log, events: tests, changes: [] });
    const transactionMs = 40 * DAY_MS;
    expect(await openedWith({ logMs: DAY_MS, transactionMs })).toEqual({
      deliveries: [['updatedAt', DAY_SECONDS]],
      events: [
        ['heardAt', 40 * DAY_SECONDS],
        ['testAt', DAY_SECONDS],
      ],
      changes: [],
    });
    expect(await openedWith({})).toEqual({ deliveries: log, events: tests, changes: [] });
  });
});
