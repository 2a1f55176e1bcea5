import type { DeliveryDetail, Redelivered } from '@webhooks/client';
import type { Argv } from 'yargs';
import { cutText, EVENT_TYPE, LIMIT, positional } from '../arguments.js';
import { card, table, collect, present } from '../output.js';
import { showing } from '../session.js';
import { FROM, TO } from '../times.js';

/** Formats one delivery and its attempts. `cycle` is shown for a redelivery only. */
export function deliveryText({ cycle, redelivery, attempts, ...delivery }: DeliveryDetail): string {
  const columns = `${redelivery ? 'cycle ' : ''}attempt at durationMs result response cause`.split(' ');
  const facts = card({ ...delivery, ...(redelivery && { cycle }) });
  const rows = attempts.map((made) => ({ ...made, response: made.status ?? made.code ?? made.error }));
  return `${facts}\n\n${table(rows, columns, 'no attempt has ended yet')}`;
}

const LISTED =
  'deliveryId ref eventType amount endToEndId status lastStatus lastError reason createdAt endpointUrl';

const FILTER = {
  ref: { type: 'string', describe: 'Of this webhook' },
  'event-id': { type: 'string', describe: 'Of this event' },
  'end-to-end-id': { type: 'string', describe: 'Of this Pix' },
  'tx-id': { type: 'string', describe: 'Of this charge' },
  'event-type': EVENT_TYPE,
  status: { choices: ['pending', 'delivered', 'dead', 'cancelled'], describe: 'In this state' },
  from: FROM,
  to: TO,
  limit: LIMIT,
} as const;

const withId = positional('id', 'The delivery (webhooks deliveries list)');

const nextOf = ({ deliveryId }: Redelivered): string => `Next: webhooks deliveries show ${deliveryId}`;

const addTo = (group: Argv): Argv =>
  group
    .demandCommand(1, 'list, show or redeliver?')
    .command(
      'list',
      'List deliveries, the newest first',
      FILTER,
      showing(
        (client, { ref, eventId, endToEndId, txId, eventType, status, from, to, limit }) => {
          const filter = { ref, eventId, endToEndId, txId, eventType, status, from, to };
          return collect(client.eachDelivery(present(filter)), limit);
        },
        (deliveries) => table(deliveries, LISTED.split(' ')),
        (deliveries, args) => cutText(deliveries, args),
      ),
    )
    .command(
      'show <id>',
      'Show a delivery and its attempts',
      withId,
      showing((client, { id }) => client.delivery(id), deliveryText),
    )
    .command(
      'redeliver <id>',
      'Send a delivery again, now',
      withId,
      showing((client, { id }) => client.redeliver(id), card, nextOf),
    );

const withEvent = positional('event', 'The event (webhooks find ID)');
const TARGET = { type: 'string', demandOption: true, describe: 'To this webhook' } as const;

export const addDeliveries = (cli: Argv): Argv =>
  cli.command('deliveries', 'Show single deliveries, and send them again', addTo).command(
    'send <event>',
    'Send one event to one webhook, whatever was before',
    (own) => withEvent(own).option('ref', TARGET),
    showing((client, { event, ref }) => client.send(event, ref), card, nextOf),
  );
