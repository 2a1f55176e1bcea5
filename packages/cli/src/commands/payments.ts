import type { Argv } from 'yargs';
import { cutText, EVENT_TYPE, LIMIT, reaisOf } from '../arguments.js';
import { collect, present, table } from '../output.js';
import { showing } from '../session.js';
import { FROM, TO } from '../times.js';

const FILTER = {
  from: { ...FROM, default: '00:00' },
  to: TO,
  amount: { type: 'string', coerce: reaisOf, describe: 'Of exactly these reais' },
  'event-type': EVENT_TYPE,
  status: { choices: ['REALIZADO', 'NAO_REALIZADO', 'DEVOLVIDO'], describe: 'In this state' },
  limit: LIMIT,
} as const;

const LISTED = ['occurredAt', 'amount', 'endToEndId', 'txId', 'eventType', 'status'];

const addTo = (group: Argv): Argv =>
  group.demandCommand(1, 'list?').command(
    'list',
    'List payments and reversals, the newest first',
    FILTER,
    showing(
      (client, { from, to, amount, eventType, status, limit }) =>
        collect(client.eachTransaction({ from, ...present({ to, amount, eventType, status }) }), limit),
      (payments) => table(payments, LISTED, 'no payment; a longer range: --from'),
      (payments, args) =>
        cutText(payments, args) || (payments[0] ? `Next: webhooks find ${payments[0].endToEndId}` : ''),
    ),
  );

export const addPayments = (cli: Argv): Argv =>
  cli.command('payments', 'Find payments by time and amount', addTo);
