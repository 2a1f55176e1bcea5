import type { EventInput, EventResult, EventType } from '@webhooks/client';
import type { ArgumentsCamelCase, Argv, InferredOptionTypes } from 'yargs';
import { EVENT_TYPES, isHere, reaisOf } from '../arguments.js';
import { makeEvent, makeReversal } from '../events.js';
import { Failure, usage } from '../failure.js';
import { table } from '../output.js';
import { online, type Session } from '../session.js';

const EVENT_TYPE = { choices: EVENT_TYPES, demandOption: true, describe: 'What happened' } as const;
const OPTIONS = {
  scenario: {
    choices: ['duplicate', 'out-of-order', 'late-reversal', 'burst'],
    describe: 'What receivers must cope with',
  },
  amount: { type: 'string', default: '1.00', coerce: reaisOf, describe: 'In reais' },
  'real-events': { type: 'boolean', default: false, describe: 'Post to a service elsewhere' },
} as const;
type Arguments = ArgumentsCamelCase<InferredOptionTypes<typeof OPTIONS>> & { readonly eventType: EventType };

/** Enough to reveal a receiver that handles only one event at a time. */
const BURST_EVENTS = 100;
const LATE_MS = 30 * 86_400_000; // a Pix can be reversed for 90 days

function eventsOf({ eventType, amount, scenario }: Arguments): readonly EventInput[] {
  if (scenario === 'burst') return Array.from({ length: BURST_EVENTS }, () => makeEvent(eventType, amount));
  const isLate = scenario === 'late-reversal';
  const event = makeEvent(eventType, amount, new Date(Date.now() - (isLate ? LATE_MS : 0)));
  if (scenario === undefined) return [event];
  if (scenario === 'duplicate') return [event, event];
  if (eventType !== 'PIX_DYNAMIC_PAID' && eventType !== 'PIX_STATIC')
    throw usage(`${eventType} is no payment that can be reversed`, 'use PIX_DYNAMIC_PAID or PIX_STATIC');
  const reversal = makeReversal(event.data.endToEndId, amount);
  return isLate ? [event, reversal] : [reversal, event];
}

const reasonOf = ({ status, violations: [first] = [] }: Partial<EventResult>): string =>
  first ? `${first.property} ${first.reason}` : String(status);

async function trigger({ client, profile, show, note }: Session, args: Arguments): Promise<void> {
  const target = profile.ingestUrl ?? profile.url;
  if (!isHere(target) && !args.realEvents)
    throw usage(`${target} is not this machine: receivers would take these as real`, 'use --real-events');
  const events = eventsOf(args);
  const results = await client.postEvents(events);
  const posted = events.map((event, index) => ({ ...event, ...results[index] }));
  const rows = posted.map(({ data, ...row }) => ({ ...row, endToEndId: data.endToEndId }));
  show(posted, table(rows, ['eventType', 'id', 'endToEndId', 'status']));
  const refused = posted.find(({ status }) => status !== 'accepted');
  if (refused) throw new Failure('failed', `not all were accepted: ${reasonOf(refused)}`, 'see each: --json');
  if (args.scenario === 'duplicate')
    note(
      'Endpoints receive the event twice. listen forwards it once; to forward it twice: listen --repeat 2',
    );
  note(`Next: webhooks find ${rows[0]?.endToEndId ?? ''}`);
}

export const addTrigger = (cli: Argv): Argv =>
  cli.command(
    'trigger <event-type>',
    'Post made-up events, which receivers take for payments',
    (own) => own.positional('event-type', EVENT_TYPE).options(OPTIONS),
    online(trigger),
  );
