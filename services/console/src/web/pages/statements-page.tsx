import { useInfiniteQuery } from '@tanstack/react-query';
import { ProblemError, type Statement, type StatementWebhook, type Sum } from '@webhooks/client';
import { useEffect } from 'react';
import { Link, useSearchParams } from 'wouter';
import { client, once } from '../api.js';
import { Command } from '../components/command.js';
import { pageOf } from '../components/frame.js';
import { Loaded } from '../components/loaded.js';
import { Table, type Column } from '../components/table.js';
import { dayBefore, dayIn, lastDayOf } from '../days.js';
import { Title } from '../components/title.js';
import { useSpeech, type Speech } from '../language.js';
import { endpointOf } from '../overview-sentences.js';

const columnsIn = ({ texts, money, count }: Speech): readonly Column<StatementWebhook>[] => {
  const sum = (head: string, of: (row: StatementWebhook) => Sum): Column<StatementWebhook> => ({
    head,
    isNumber: true,
    cell: (row) => {
      const { events, amount } = of(row);
      return events === 0 && Number(amount) === 0 ? '–' : `${count(events)} · ${money(amount)}`;
    },
  });
  return [
    {
      head: texts.webhook,
      cell: ({ ref, endpointUrl }) => (
        <Link href={pageOf(`/webhooks/${ref}`)}>{endpointOf(endpointUrl)}</Link>
      ),
    },
    { head: texts.type, cell: ({ eventType }) => eventType },
    sum(texts.events, ({ events }) => events),
    sum(texts.delivered, ({ delivered }) => delivered),
    sum(texts.deadOnes, ({ dead }) => dead),
    sum(texts.cancelledOnes, ({ cancelled }) => cancelled),
    sum(texts.pendingOnes, ({ waiting }) => waiting),
    sum(texts.missedOnes, ({ missed }) => missed),
    sum(texts.difference, ({ difference }) => difference),
  ];
};

/** What became of the events of a day, and the text for it. */
const PARTS = [
  ['delivered', 'deliveredCount'],
  ['waiting', 'waitingCount'],
  ['dead', 'deadCount'],
  ['cancelled', 'cancelledCount'],
  ['missed', 'unsentCount'],
] as const;

/** Says whether a day balances: every event is delivered, or it is told where it went. */
function daySentence(statement: Statement, { say, texts, date }: Speech): string {
  const { open, balanced, webhooks, unmatched } = statement;
  const parts = PARTS.map(([part, key]) => {
    const count = webhooks.reduce((sum, one) => sum + one[part].events, 0);
    return count === 0 ? '' : say(key, { count });
  });
  const became = parts.filter((text) => text !== '').join(', ');
  const state = balanced ? texts[open ? 'dayOpen' : 'dayBalances'] : texts.dayDiffers;
  // An event of a type that has a webhook stands in that row.
  const unknown = unmatched.filter(({ eventType }) => webhooks.every((one) => one.eventType !== eventType));
  const unsent = unknown.reduce((sum, one) => sum + one.events, 0);
  const rest = unsent === 0 ? '' : ` ${say('unmatched', { count: unsent })}`;
  return `${date(statement.date)}${became && `: ${became}`}. ${state}${rest}`;
}

/** What a month says: nothing of the whole month before all of it is read. `unread`: what it says until then; empty for a whole one. */
function monthSentence(days: readonly Statement[], unread: string, { say, date, texts }: Speech): string {
  const differ = days.filter(({ balanced }) => !balanced);
  const busy = days.filter((day) => !isEmpty(day));
  const open = busy.filter((day) => day.open);
  if (differ.length > 0) return say('daysDiffer', { days: differ.map((day) => date(day.date)).join(', ') });
  if (unread !== '') return unread;
  if (busy.length === 0) return texts.quietMonth;
  if (open.length === 0) return say('daysBalance', { count: busy.length });
  const closed = busy.length - open.length;
  const stillOpen = say('stillOpen', { days: open.map((day) => date(day.date)).join(', ') });
  return closed === 0 ? stillOpen : `${say('daysClosed', { count: closed })} ${stillOpen}`;
}

const isEmpty = ({ balanced, webhooks, unmatched }: Statement): boolean =>
  balanced && unmatched.length === 0 && webhooks.every(({ events }) => events.events === 0);

function Day({ statement }: { readonly statement: Statement }) {
  const speech = useSpeech();
  return (
    <details>
      <summary className={statement.balanced ? undefined : 'bad'}>{daySentence(statement, speech)}</summary>
      <Table
        caption={speech.date(statement.date)}
        columns={columnsIn(speech)}
        rows={statement.webhooks}
        keyOf={({ ref }) => ref}
      />
      <Command line={`webhooks statement ${statement.date}`} />
    </details>
  );
}

/** Requests the days of a month up to `last` one after the other, the newest first, so that a page costs the service one request at a time. */
function useMonth(last: string) {
  const query = useInfiniteQuery({
    ...once,
    queryKey: ['statements', last],
    initialPageParam: last,
    queryFn: ({ pageParam, signal }) => client.statement(pageParam, { signal }),
    getNextPageParam: ({ date }) => (date.endsWith('-01') ? undefined : dayBefore(date)),
    select: ({ pages }) => pages,
  });
  const { hasNextPage, isFetching, error, fetchNextPage } = query;
  useEffect(() => {
    // What fails is shown by the page.
    if (hasNextPage && !isFetching && error === null) fetchNextPage().catch(() => undefined);
  }, [hasNextPage, isFetching, error, fetchNextPage]);
  return query;
}

/** The days of a month, and whether each balances. */
export default function StatementsPage() {
  const speech = useSpeech();
  const { texts, say } = speech;
  const [parameters] = useSearchParams();
  const today = dayIn(Date.now());
  const asked = /^\d{4}-(0[1-9]|1[0-2])$/.exec(parameters.get('month') ?? '')?.[0] ?? today;
  const month = (asked < today ? asked : today).slice(0, 7);
  const query = useMonth(lastDayOf(month, today));
  const earlier = dayBefore(`${month}-01`).slice(0, 7);
  // 422: this day is not stored any more, nor is any before it.
  const isCut = query.error instanceof ProblemError && query.error.status === 422;
  const cut = isCut ? `${texts.notKept} ` : '';
  const unread = query.error ? texts.statements : texts.loading;
  return (
    <>
      <Loaded query={query} isPolled={false}>
        {(days) => {
          const busy = days.filter((day) => !isEmpty(day));
          return (
            <>
              <Title>{cut + monthSentence(days, isCut || !query.hasNextPage ? '' : unread, speech)}</Title>
              {busy.map((statement) => (
                <Day key={statement.date} statement={statement} />
              ))}
              {!query.hasNextPage && <p>{say('emptyDays', { count: days.length - busy.length })}</p>}
            </>
          );
        }}
      </Loaded>
      <p>
        <Link href={pageOf('/statements', { month: earlier })}>
          {texts.earlier}: {earlier}
        </Link>
      </p>
    </>
  );
}
