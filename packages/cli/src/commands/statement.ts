import type { Statement, StatementWebhook } from '@webhooks/client';
import type { Argv } from 'yargs';
import { card, dim, sumText, table } from '../output.js';
import { showing } from '../session.js';

/** The zone of a statement's day, whatever the machine's is. */
const SAO_PAULO = { timeZone: 'America/Sao_Paulo' } as const;
const today = (): string => new Date().toLocaleDateString('sv', SAO_PAULO);

const SUMS = ['events', 'delivered', 'dead', 'cancelled', 'waiting', 'missed', 'difference'] as const;
const rowOf = (webhook: StatementWebhook) => ({
  ...webhook,
  ...Object.fromEntries(SUMS.map((name) => [name, sumText(webhook[name])])),
});

function statementText({ webhooks, unmatched, ...day }: Statement): string {
  const rows = webhooks.map(rowOf);
  const others = table(unmatched, ['eventType', 'events', 'amount'], 'every event matched a webhook');
  return [
    card(day),
    table(rows, ['ref', 'eventType', ...SUMS, 'endpointUrl'], 'no webhook'),
    `${dim('MATCHED NO WEBHOOK, AT MOST')}\n${others}`,
  ].join('\n\n');
}

export const addStatement = (cli: Argv): Argv =>
  cli.command(
    'statement [date]',
    "Show a day's events, and what became of them",
    (own) => own.positional('date', { type: 'string', default: today(), describe: 'A day in São Paulo' }),
    showing((client, { date }) => client.statement(date), statementText),
  );
