import { setTimeout as delay } from 'node:timers/promises';
import { progress } from '@clack/prompts';
import type { Redelivery } from '@webhooks/client';
import type { ArgumentsCamelCase, Argv, InferredOptionTypes } from 'yargs';
import { EVENT_TYPE, positional, YES } from '../arguments.js';
import { card, table, collect, plain, present } from '../output.js';
import { Failure, usage } from '../failure.js';
import { requireConfirmation, online, POLL_MS, showing, untilServed, type Session } from '../session.js';
import { FROM, TO } from '../times.js';

const OPTIONS = {
  ref: { type: 'string', describe: 'To this webhook' },
  'event-type': EVENT_TYPE,
  status: {
    choices: ['dead', 'cancelled', 'delivered', 'missed'],
    default: 'dead',
    describe: 'In this state; missed: never sent to --ref',
  },
  from: { ...FROM, demandOption: true },
  to: TO,
  'dry-run': { type: 'boolean', default: false, describe: 'Only count' },
  yes: YES,
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
    await requireConfirmation(`Send ${count.matched}${more} deliveries again?`, false);
  }
  const job = await client.startRedelivery(input);
  show(job, card(job));
  note(`Next: webhooks redeliveries watch ${job.id}`);
}

const doneOf = ({ sent, refused, expired }: Redelivery): number => sent + refused + expired;

/** Formats the progress of a job, and the time left at the speed so far. */
function progressText(job: Redelivery, first: Redelivery, elapsedMs: number): string {
  const perMs = (doneOf(job) - doneOf(first)) / elapsedMs;
  const rest = Math.max(0, Math.ceil((job.matched - doneOf(job)) / perMs / 1_000));
  const left = Number.isFinite(rest) ? `, about ${rest} s left` : '';
  return `${doneOf(job)} of ${job.matchedIsLowerBound ? 'at least ' : ''}${job.matched}${left}`;
}

async function watch({ client, show, note, json }: Session, { id }: { readonly id: string }): Promise<void> {
  const first = await client.redelivery(id);
  // The progress bar handles signals itself. 130 is a shell's exit code for a program that SIGINT ended.
  const options = { max: Math.max(first.matched, 1), onCancel: () => process.exit(130) };
  const bar = process.stdout.isTTY && !json ? progress(options) : undefined;
  const startedAt = Date.now();
  const onOutage = (text: string): unknown => (bar ? bar.message(text) : note(text));
  let job = first;
  bar?.start('sending again');
  while (job.state === 'running') {
    await delay(POLL_MS);
    const next = await untilServed(() => client.redelivery(id), onOutage);
    bar?.advance(doneOf(next) - doneOf(job), progressText(next, first, Date.now() - startedAt));
    job = next;
  }
  bar?.stop(plain(job.state));
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
