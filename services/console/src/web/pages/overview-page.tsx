import type { Overview, OverviewWebhook } from '@webhooks/client';
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { client, tenantOf, useCall } from '../api.js';
import { Command } from '../components/command.js';
import { pageOf } from '../components/frame.js';
import { Loaded } from '../components/loaded.js';
import { Table, type Column } from '../components/table.js';
import { Title } from '../components/title.js';
import { useSpeech, type Speech } from '../language.js';
import { endpointOf, isBroken, overviewSentence, worstFirst } from '../overview-sentences.js';

const DayChart = lazy(() => import('../components/day-chart.js'));

const columnsIn = ({ texts, count, money, since }: Speech): readonly Column<OverviewWebhook>[] => [
  {
    head: texts.webhook,
    cell: ({ ref, endpointUrl }) => <Link href={pageOf(`/webhooks/${ref}`)}>{endpointOf(endpointUrl)}</Link>,
  },
  { head: texts.type, cell: ({ eventType }) => eventType },
  {
    head: texts.state,
    cell: (webhook) => (
      <span className={`state ${webhook.state}`}>
        {webhook.state !== 'failing' && texts[webhook.state]}{' '}
        {isBroken(webhook) && webhook.since && `${texts.failingSince} ${since(webhook.since)}`}
      </span>
    ),
  },
  { head: texts.delivered, cell: ({ lastHour }) => count(lastHour.delivered), isNumber: true },
  { head: texts.failed, cell: ({ lastHour }) => count(lastHour.failed), isNumber: true },
  {
    head: texts.undelivered,
    cell: ({ undelivered }) =>
      undelivered === undefined
        ? '–'
        : `${undelivered.atLeast ? '≥ ' : ''}${count(undelivered.events)} · ${money(undelivered.amount)}`,
    isNumber: true,
  },
];

function Shown({ data, series }: Overview) {
  const speech = useSpeech();
  const { texts, say } = speech;
  const tenant = tenantOf();
  const isMistyped = data.length === 0 && tenant !== '';
  return (
    <>
      <Title>{isMistyped ? say('noWebhookOf', { tenant }) : overviewSentence(data, speech)}</Title>
      <Table
        caption={`${texts.webhook} · ${texts.lastHour}`}
        columns={columnsIn(speech)}
        rows={worstFirst(data)}
        keyOf={({ ref }) => ref}
      />
      <Suspense fallback={<div className="chart" />}>
        <DayChart series={series} />
      </Suspense>
      <Command
        line={
          data.length === 0 && tenant === ''
            ? 'webhooks create --event-type PIX_STATIC --endpoint-url https://…'
            : 'webhooks overview'
        }
      />
    </>
  );
}

/** How all webhooks do. */
export function OverviewPage() {
  const query = useCall(['overview'], client.overview);
  return <Loaded query={query}>{(overview) => <Shown {...overview} />}</Loaded>;
}
