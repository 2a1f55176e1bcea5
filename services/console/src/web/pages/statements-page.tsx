import { useInfiniteQuery } from '@tanstack/react-query';
import type { Statement, StatementWebhook, Sum } from '@webhooks/client';
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
    cell: (row) => (of(row).events === 0 ? '–' : `${count(of(row).events)} · ${money(of(row).amount)}`),
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

/** Says whether a day balances: every event is delivered, or it is told where it went. */
function daySentence(statement: Statement, { say, texts, date }: Speech): string {
  const { open, balanced, webhooks, unmatched } = statement;
  const events = webhooks.reduce((sum, one) => sum + one.events.events, 0);
  const state = balanced ? texts[open ? 'dayOpen' : 'dayBalances'] : texts.dayDiffers;
  // An event of a type that has a webhook stands in that row.
  const unknown = unmatched.filter(({ eventType }) => webhooks.every((one) => one.eventType !== eventType));
  const unsent = unknown.reduce((sum, one) => sum + one.events, 0);
  const rest = unsent === 0 ? '' : ` ${say('unmatched', { count: unsent })}`;
  return `${date(statement.date)}: ${say('dayEvents', { count: events })} ${state}${rest}`;
}

/** What a month says: nothing of the whole month before all of it is read. */
function monthSentence(days: readonly Statement[], isWhole: boolean, { say, date, texts }: Speech): string {
  const differ = days.filter(({ balanced }) => !balanced);
  const open = days.filter((day) => day.open);
  if (differ.length > 0) return say('daysDiffer', { days: differ.map((day) => date(day.date)).join(', ') });
  if (!isWhole) return texts.loading;
  if (open.length === 0) return say('daysBalance', { count: days.length });
  return say('daysOpen', {
    count: days.length - open.length,
    days: open.map((day) => date(day.date)).join(', '),
  });
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

/** Requests the days of a month one after the other, the newest first, so that a page costs the service one request at a time. */
function useMonth(month: string, today: string) {
  const query = useInfiniteQuery({
    ...once,
    queryKey: ['statements', month],
    initialPageParam: lastDayOf(month, today),
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
  const query = useMonth(month, today);
  const earlier = dayBefore(`${month}-01`).slice(0, 7);
  return (
    <>
      <Loaded query={query} isPolled={false}>
        {(days) => {
          const busy = days.filter((day) => !isEmpty(day));
          return (
            <>
              <Title>{monthSentence(days, !query.hasNextPage, speech)}</Title>
              {busy.map((statement) => (
                <Day key={statement.date} statement={statement} />
              ))}
              <p>{say('emptyDays', { count: days.length - busy.length })}</p>
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
