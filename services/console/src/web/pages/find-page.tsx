import { useQuery } from '@tanstack/react-query';
import { explainPayment, findPayment } from '@webhooks/client';
import type {
  DeliveryDetail,
  FoundEvidence,
  RequestOptions,
  Reversal,
  TransactionSummary,
  Verdict,
} from '@webhooks/client';
import { useMemo } from 'react';
import { Link, Redirect, useSearchParams } from 'wouter';
import { client, once, slowlyFor, useCall } from '../api.js';
import { Attempts } from '../components/attempts.js';
import { Change } from '../components/change.js';
import { Command } from '../components/command.js';
import { Facts } from '../components/facts.js';
import { pageOf } from '../components/frame.js';
import { Loaded } from '../components/loaded.js';
import { Table, type Column } from '../components/table.js';
import { Title } from '../components/title.js';
import { useSpeech, type Speech } from '../language.js';
import { endpointOf } from '../overview-sentences.js';
import { readPaymentSearch, type PaymentSearch } from '../payment-search.js';
import { reversedCents, summaryText, urgentFirst } from '../verdict-summary.js';

const isSendable = ({ command }: Verdict): boolean => command?.startsWith('webhooks send ') === true;

/** Sends one event to one webhook. */
function Send({ eventId, webhookRef }: { readonly eventId: string; readonly webhookRef: string }) {
  const { texts } = useSpeech();
  return <Change label={texts.sendThis} change={() => client.send(eventId, webhookRef)} done={texts.sent} />;
}

/** The title of the page is the one sentence, or the sum of several. */
function Verdicts({ evidence }: { readonly evidence: FoundEvidence }) {
  const speech = useSpeech();
  const { texts, language } = speech;
  const verdicts = urgentFirst(explainPayment({ ...evidence, now: Date.now() }));
  const summary =
    summaryText(verdicts, reversedCents(evidence.payment), speech) || (verdicts[0]?.text[language] ?? '');
  return (
    <>
      {verdicts.length > 1 && <Title>{(evidence.truncated ? `${texts.truncated} ` : '') + summary}</Title>}
      <ul className="verdicts">
        {verdicts.map((verdict, index) => (
          <li key={`${verdict.eventId} ${verdict.ref} ${index}`} className={verdict.kind}>
            {verdicts.length > 1 ? <p>{verdict.text[language]}</p> : <Title>{verdict.text[language]}</Title>}
            {isSendable(verdict) && verdict.eventId !== undefined && verdict.ref !== undefined && (
              <Send eventId={verdict.eventId} webhookRef={verdict.ref} />
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

const reversalColumns = ({ texts, money, time }: Speech): readonly Column<Reversal>[] => [
  {
    head: texts.occurredAt,
    cell: ({ requestedAt }) => (requestedAt === undefined ? '–' : time(requestedAt)),
  },
  { head: texts.amount, cell: ({ amount }) => money(amount), isNumber: true },
  { head: texts.status, cell: ({ status }) => status },
];

function Payment({ payment }: Required<Pick<FoundEvidence, 'payment'>>) {
  const speech = useSpeech();
  const { texts, money, time } = speech;
  if (payment === undefined) return null;
  const parts = 'pix' in payment ? payment.pix : [payment];
  const reversals = parts.flatMap((part) => part.reversals);
  return (
    <section>
      <h2>{texts.payment}</h2>
      <Facts
        facts={[
          [texts.amount, payment.amount && money(payment.amount)],
          [texts.status, payment.status],
          [
            texts.occurredAt,
            'occurredAt' in payment && payment.occurredAt ? time(payment.occurredAt) : undefined,
          ],
          ...parts.map(({ endToEndId }) => ['endToEndId', endToEndId] as const),
          ['txId', payment.txId],
        ]}
      />
      <Table
        caption={texts.reversals}
        columns={reversalColumns(speech)}
        rows={reversals}
        keyOf={({ reversalId }) => reversalId}
      />
    </section>
  );
}

function Delivery({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { texts } = useSpeech();
  const { deliveryId, ref, endpointUrl = ref, attempts, status } = delivery;
  return (
    <>
      <h3>
        <Link href={pageOf(`/webhooks/${ref}`)}>{endpointOf(endpointUrl)}</Link>:{' '}
        <Link href={pageOf(`/deliveries/${deliveryId}`)}>{texts[`${status}One`]}</Link>
      </h3>
      <Attempts attempts={attempts} />
    </>
  );
}

/** What may be an amount, too. */
const WHOLE_REAIS = /^\d{1,7}$/;

function Found({ id, evidence }: { readonly id: string; readonly evidence: FoundEvidence | undefined }) {
  const { texts, say, money } = useSpeech();
  if (evidence === undefined)
    return (
      <>
        <Title>{say('nothingFound', { id })}</Title>
        {WHOLE_REAIS.test(id) && (
          <Link href={pageOf('/find', { q: `R$ ${id}` })}>{say('asAmount', { amount: money(id) })}</Link>
        )}
      </>
    );
  const { deliveries, payment } = evidence;
  return (
    <>
      <Verdicts evidence={evidence} />
      <Payment payment={payment} />
      <section>
        <h2>{texts.deliveries}</h2>
        {deliveries.length === 0 && <p>{texts.noDelivery}</p>}
        {deliveries.map((delivery) => (
          <Delivery key={delivery.deliveryId} delivery={delivery} />
        ))}
      </section>
      <Command line={`webhooks find ${id}`} />
    </>
  );
}

/** What became of the payment, event or delivery of an id. */
function FoundById({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ['find', id],
    queryFn: async () => (await findPayment(client, id)) ?? null,
    refetchInterval: (query) => slowlyFor(query.state.data?.webhooks.length)(query),
  });
  return (
    <Loaded query={query} isPolled={query.data !== null}>
      {(evidence) => <Found id={id} evidence={evidence ?? undefined} />}
    </Loaded>
  );
}

const paymentColumns = ({ texts, time, money }: Speech): readonly Column<TransactionSummary>[] => [
  {
    head: texts.occurredAt,
    cell: ({ endToEndId, occurredAt }) => (
      <Link href={pageOf('/find', { q: endToEndId })}>{time(occurredAt)}</Link>
    ),
  },
  { head: texts.type, cell: ({ eventType }) => eventType },
  { head: texts.amount, cell: ({ amount }) => money(amount), isNumber: true },
  { head: 'endToEndId', cell: ({ endToEndId }) => <code>{endToEndId}</code> },
];

/** Pages of 1,000 events that a search reads at most: a few seconds. */
const MAX_PAGES = 20;

/** Requests the payments of an amount. `isCut`: there may be more. */
async function searchPayments(filter: PaymentSearch, options: RequestOptions) {
  const found: TransactionSummary[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data, nextCursor } = await client.transactions({ ...filter, ...(cursor && { cursor }) }, options);
    found.push(...data);
    if (nextCursor === undefined) return { found, isCut: false };
    cursor = nextCursor;
  }
  return { found, isCut: true };
}

/** Payments of an amount, around a time. If it can be only one, that is shown. */
function FoundByAmount({ filter }: { readonly filter: PaymentSearch }) {
  const speech = useSpeech();
  const { texts, say, money, time } = speech;
  const { amount, from, to } = filter;
  const query = useCall(['payments', amount, from, to], (options) => searchPayments(filter, options), once);
  const ids = new Set(query.data?.found.map(({ endToEndId }) => endToEndId));
  const [only] = ids;
  if (only !== undefined && ids.size === 1 && query.data?.isCut === false) return <FoundById id={only} />;
  const values = { amount: money(amount), from: time(from), to: time(to) };
  return (
    <>
      <Loaded query={query} isPolled={false}>
        {({ found, isCut }) => (
          <>
            <Title>
              {say(isCut ? 'paymentsAtLeast' : 'paymentsFound', { ...values, count: found.length })}
            </Title>
            <Table
              caption={texts.payment}
              columns={paymentColumns(speech)}
              rows={found}
              keyOf={({ eventId }) => eventId}
            />
          </>
        )}
      </Loaded>
      <Command line={`webhooks payments list --amount ${amount} --from ${from} --to ${to}`} />
    </>
  );
}

/** What an id has; anything else is answered with a hint. */
const ID = /^[\w-]{1,64}$/;
/** An endToEndId, the id of an event or of a delivery, in a pasted text. */
const PASTED = /\bE[\dA-Z]{8}\d{12}[A-Za-z0-9]{11}\b|\bevt_[\w-]+|\b[a-z2-7]{52}\b/;
/** The `ref` of a webhook. */
const REF = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** What became of a payment: of an id, or of an amount and a time. */
export default function FindPage() {
  const { texts } = useSpeech();
  const [parameters] = useSearchParams();
  const typed = (parameters.get('q') ?? '').trim();
  const filter = useMemo(() => readPaymentSearch(typed, Date.now()), [typed]);
  if (filter) return <FoundByAmount filter={filter} />;
  if (REF.test(typed)) return <Redirect to={pageOf(`/webhooks/${typed.toLowerCase()}`)} replace />;
  const id = PASTED.exec(typed)?.[0] ?? typed;
  return ID.test(id) ? <FoundById key={id} id={id} /> : <Title>{texts.findHint}</Title>;
}
