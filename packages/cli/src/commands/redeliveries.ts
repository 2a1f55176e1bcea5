import { setTimeout as delay } from 'node:timers/promises';
import type { ArgumentsCamelCase, Argv, InferredOptionTypes } from 'yargs';
import { EVENT_TYPES, positional, timeOf } from '../arguments.js';
import { confirmed } from '../confirm.js';
import { Failure, usage } from '../failure.js';
import { card, table } from '../output.js';
import { collect, present } from '../present.js';
import { online, showing, type Session } from '../session.js';

const OPTIONS = {
  ref: { type: 'string', describe: 'To this webhook' },
  'event-type': { choices: EVENT_TYPES, describe: 'Of this type' },
  status: {
    choices: ['dead', 'cancelled', 'delivered', 'missed'],
    default: 'dead',
    describe: 'In this state; missed: never sent to --ref',
  },
  from: { type: 'string', coerce: timeOf, demandOption: true, describe: 'Since this time' },
  to: { type: 'string', coerce: timeOf, describe: 'Until this time' },
  'dry-run': { type: 'boolean', default: false, describe: 'Only count' },
  yes: { alias: 'y', type: 'boolean', default: false, describe: 'Do not ask' },
} as const;

type Arguments = ArgumentsCamelCase<InferredOptionTypes<typeof OPTIONS>>;

async function create({ client, show, note }: Session, args: Arguments): Promise<void> {
  const { ref, eventType, status, from, to, dryRun, yes } = args;
  if (status === 'missed' && ref === undefined)
    throw usage('--status missed needs --ref', 'see: webhooks list');
  const input = { ...present({ ref, eventType, to }), status, from };
  if (dryRun || !yes) {
    const count = await client.countRedelivery(input);
    if (dryRun) return void show(count, card(count));
    const more = count.matchedIsLowerBound ? ' or more' : '';
    await confirmed(`Send ${count.matched}${more} deliveries again?`, false);
  }
  const job = await client.startRedelivery(input);
  show(job, card(job));
  note(`Next: webhooks redeliveries watch ${job.id}`);
}

const POLL_MS = 1_000; // a job takes seconds to hours, and a person reads no faster

async function watch({ client, show, note }: Session, { id }: { readonly id: string }): Promise<void> {
  let job = await client.redelivery(id);
  for (let before = ''; job.state === 'running'; job = await client.redelivery(id)) {
    const { sent, refused, expired, matched, matchedIsLowerBound } = job;
    const text = `${sent + refused + expired} of ${matchedIsLowerBound ? 'at least ' : ''}${matched}`;
    if (text !== before) note(text);
    before = text;
    await delay(POLL_MS);
  }
  show(job, card(job));
  if (job.state === 'cancelled') throw new Failure('failed', 'the redelivery was cancelled');
}

const withId = positional('id', 'The job (webhooks redeliveries list)');

const addTo = (group: Argv): Argv =>
  group
    .demandCommand(1, 'create, list, watch or cancel?')
    .command('create', 'Start a job, or count what it would send', OPTIONS, online(create))
    .command(
      'list',
      'List jobs, the newest first',
      {},
      showing(
        (client) => collect(client.eachRedelivery()),
        (jobs) => table(jobs, ['id', 'state', 'matched', 'sent', 'refused', 'expired', 'createdAt']),
      ),
    )
    .command('watch <id>', 'Wait for the end of a job', withId, online(watch))
    .command(
      'cancel <id>',
      'Stop a job; what was sent stays sent',
      withId,
      showing((client, { id }) => client.cancelRedelivery(id)),
    );

export const addRedeliveries = (cli: Argv): Argv =>
  cli.command('redeliveries', 'Send many deliveries again', addTo);
