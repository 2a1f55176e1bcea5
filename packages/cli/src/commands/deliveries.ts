import type { DeliveryDetail } from '@webhooks/client';
import type { Argv } from 'yargs';
import { causeOfFailure } from '../causes.js';
import { EVENT_TYPES } from '../events.js';
import { card, table } from '../output.js';
import { present } from '../present.js';
import { online } from '../session.js';
import { timeOf } from '../time.js';

/** One delivery with what became of each attempt. */
export function deliveryText(delivery: DeliveryDetail): string {
  const attempts = delivery.attempts.map((attempt) => ({
    ...attempt,
    response: attempt.status ?? attempt.error,
    cause: causeOfFailure(attempt.error, attempt.status) ?? '',
  }));
  const columns = ['attempt', 'at', 'durationMs', 'result', 'response', 'cause'];
  return `${card(delivery)}\n\n${table(attempts, columns, 'no attempt has ended yet')}`;
}

const FILTER = {
  ref: { type: 'string', describe: 'Of this webhook' },
  'event-id': { type: 'string', describe: 'Of this event' },
  'end-to-end-id': { type: 'string', describe: 'Of this Pix' },
  'tx-id': { type: 'string', describe: 'Of this charge' },
  'event-type': { choices: EVENT_TYPES, describe: 'Of this type' },
  status: { choices: ['pending', 'delivered', 'dead', 'cancelled'], describe: 'In this state' },
  from: { type: 'string', coerce: timeOf, describe: 'Since this time' },
  to: { type: 'string', coerce: timeOf, describe: 'Until this time' },
  limit: { type: 'number', describe: 'So many at most' },
  cursor: { type: 'string', describe: 'The nextCursor of the page before' },
} as const;
const COLUMNS = ['deliveryId', 'eventType', 'status', 'lastStatus', 'lastError', 'reason', 'createdAt'];

const withId = (own: Argv) =>
  own.positional('id', { type: 'string', demandOption: true, describe: 'The delivery' });

const addTo = (group: Argv): Argv =>
  group
    .demandCommand(1, 'list, show or redeliver?')
    .command(
      'list',
      'List deliveries, the newest first',
      FILTER,
      online(async ({ client, show, note }, args) => {
        const { ref, eventId, endToEndId, txId, eventType, status, from, to, limit, cursor } = args;
        const what = { ref, eventId, endToEndId, txId, eventType, status };
        const page = await client.deliveries(present({ ...what, from, to, limit, cursor }));
        show(page, table(page.data, COLUMNS));
        if (page.nextCursor !== undefined) note(`There are more: --cursor ${page.nextCursor}`);
      }),
    )
    .command(
      'show <id>',
      'Show a delivery and its attempts',
      withId,
      online(async ({ client, show }, { id }) => {
        const delivery = await client.delivery(id);
        show(delivery, deliveryText(delivery));
      }),
    )
    .command(
      'redeliver <id>',
      'Make a delivery again, now',
      withId,
      online(async ({ client, show, note }, { id }) => {
        const redelivered = await client.redeliver(id);
        show(redelivered, card(redelivered));
        note(`Next: webhooks deliveries show ${id}`);
      }),
    );

export const addDeliveries = (cli: Argv): Argv =>
  cli.command('deliveries', 'Look at single deliveries, and make them again', addTo);
