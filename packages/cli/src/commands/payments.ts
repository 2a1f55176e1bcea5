import type { Argv } from 'yargs';
import { EVENT_TYPE, LIMIT, reaisOf, timeOf, TO, ZONE } from '../arguments.js';
import { collect, present, table } from '../output.js';
import { showing } from '../session.js';

const FILTER = {
  from: {
    type: 'string',
    coerce: timeOf,
    default: '00:00',
    describe: 'Since this time of São Paulo: 14:03 is of today',
  },
  to: TO,
  amount: { type: 'string', coerce: reaisOf, describe: 'Of exactly these reais' },
  'event-type': EVENT_TYPE,
  status: { choices: ['REALIZADO', 'NAO_REALIZADO', 'DEVOLVIDO'], describe: 'In this state' },
  limit: LIMIT,
} as const;

const LISTED = ['time', 'amount', 'endToEndId', 'txId', 'eventType', 'status'];

const zoned = (time: string): string =>
  new Date(time).toLocaleString('sv', { dateStyle: 'short', timeStyle: 'long', timeZone: ZONE });

const addTo = (group: Argv): Argv =>
  group.demandCommand(1, 'list?').command(
    'list',
    'List payments and reversals, the newest first',
    FILTER,
    showing(
      (client, { from, to, amount, eventType, status, limit }) =>
        collect(client.eachTransaction({ from, ...present({ to, amount, eventType, status }) }), limit),
      (payments) => {
        const rows = payments.map((one) => ({ ...one, time: zoned(one.occurredAt) }));
        return table(rows, LISTED, 'no payment; a longer range: --from');
      },
      ([first]) => (first ? `Next: webhooks find ${first.endToEndId}` : ''),
    ),
  );

export const addPayments = (cli: Argv): Argv =>
  cli.command('payments', 'Find payments by time and amount', addTo);
