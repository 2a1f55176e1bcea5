import { explainPayment, findPayment } from '@webhooks/client';
import type { Charge, Transaction, Verdict } from '@webhooks/client';
import type { Argv } from 'yargs';
import { positional } from '../arguments.js';
import { Failure } from '../failure.js';
import { card, dim, language, plain, table } from '../output.js';
import { online, type Session } from '../session.js';
import { zone } from '../times.js';
import { deliveryText } from './deliveries.js';

type Payment = Transaction | Charge;

function paymentText(payment: Payment): string {
  const parts = 'pix' in payment ? [payment, ...payment.pix] : [payment];
  const reversals = parts.flatMap((part) => ('reversals' in part ? part.reversals : []));
  const columns = ['reversalId', 'status', 'amount', 'requestedAt', 'settledAt'];
  const reversed = reversals.length === 0 ? '' : `\n\n${dim('REVERSALS')}\n${table(reversals, columns)}`;
  return `${dim('PAYMENT')}\n${parts.map(card).join('\n\n')}${reversed}`;
}

/** Says why an id that begins as an endToEndId is none; empty for any other. */
function malformed(id: string): string {
  const wrong = /[^A-Za-z0-9]/u.exec(id);
  if (!id.startsWith('E') || (wrong === null && id.length === 32)) return '';
  const code = wrong?.[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? '';
  const found = wrong ? `character ${wrong.index + 1} of this is U+${code}` : `this has ${id.length}`;
  return `an endToEndId has 32 letters and digits, ${found}; `;
}

function notFound(id: string): Failure {
  const hint = `${malformed(id)}capitals count; another tenant has other ids: --profile NAME; a payment is found by time and amount, too: webhooks payments list`;
  return new Failure('not-found', `no payment, event or delivery has the id ${id}`, hint);
}

/** Kinds whose event would fail again before the endpoint is repaired. */
const BROKEN: readonly string[] = ['refused', 'unreachable', 'dead'];

/** Formats a verdict, and the command that helps. */
function verdictText({ kind, text, command }: Verdict): string {
  const sentence = plain(text[language()]);
  if (command === undefined) return sentence;
  return `${sentence}\n${dim(BROKEN.includes(kind) ? '→ once it is repaired:' : '→')} ${plain(command)}`;
}

async function find({ client, show }: Session, { id: typed }: { readonly id: string }): Promise<void> {
  const id = typed.trim();
  const found = await findPayment(client, id);
  if (found === undefined) throw notFound(id);
  const { payment, deliveries, truncated } = found;
  const verdicts = explainPayment({ ...found, now: Date.now(), timeZone: zone() });
  const texts = [
    verdicts.map(verdictText).join('\n'),
    ...(payment ? [paymentText(payment)] : []),
    ...deliveries.map((delivery) => `${dim('DELIVERY')}\n${deliveryText(delivery)}`),
  ];
  if (truncated) texts.push('there are more: webhooks deliveries list');
  show({ verdicts, payment, deliveries, truncated }, texts.join('\n\n'));
}

const withId = positional('id', 'endToEndId, txId, event id or delivery id');

export const addFind = (cli: Argv): Argv =>
  cli.command('find <id>', 'Say what became of a payment, and show its deliveries', withId, online(find));
