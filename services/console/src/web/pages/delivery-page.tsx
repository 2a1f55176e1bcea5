import { useQuery } from '@tanstack/react-query';
import { explainPayment, findPayment } from '@webhooks/client';
import type { DeliveryDetail, FoundEvidence } from '@webhooks/client';
import { Link } from 'wouter';
import { client, slowlyFor } from '../api.js';
import { Attempts } from '../components/attempts.js';
import { Change } from '../components/change.js';
import { Command } from '../components/command.js';
import { Facts, type FactsProps } from '../components/facts.js';
import { pageOf } from '../components/frame.js';
import { Loaded } from '../components/loaded.js';
import { Title } from '../components/title.js';
import { useSpeech, type Speech } from '../language.js';
import { endpointOf } from '../overview-sentences.js';

interface Found {
  readonly delivery: DeliveryDetail;
  /** Undefined when nothing but the delivery is stored. */
  readonly evidence: FoundEvidence | undefined;
}

/** What became of it, in a sentence. After it was sent again the last verdict is of the newest attempts. */
function Verdict({ delivery, evidence }: Found) {
  const { texts, language } = useSpeech();
  const verdicts = evidence ? explainPayment({ ...evidence, now: Date.now() }) : [];
  const verdict = verdicts.findLast(({ deliveryId }) => deliveryId === delivery.deliveryId);
  return <Title>{verdict?.text[language] ?? texts[`${delivery.status}One`]}</Title>;
}

/** When the payment system says that it happened stands in the notification alone. */
function factsOf(
  { amount, eventId, endToEndId }: DeliveryDetail,
  body = '',
  { texts, money, time }: Speech,
): FactsProps['facts'] {
  const occurredAt = /"occurredAt":"([^"]+)"/.exec(body)?.[1];
  return [
    [texts.amount, amount && money(amount)],
    [texts.occurredAt, occurredAt && time(occurredAt)],
    ['eventId', eventId],
    ['endToEndId', endToEndId],
  ];
}

function Shown({ delivery, evidence }: Found) {
  const speech = useSpeech();
  const { texts } = speech;
  const { deliveryId, ref, endpointUrl = ref, eventId, endToEndId, attempts } = delivery;
  const event = evidence?.events.find(({ id }) => id === eventId);
  return (
    <>
      <Verdict delivery={delivery} evidence={evidence} />
      <div className="actions">
        <Change label={texts.sendAgain} change={() => client.redeliver(deliveryId)} done={texts.sent} />
        <Link href={pageOf(`/webhooks/${ref}`)}>{endpointOf(endpointUrl)}</Link>
        {endToEndId !== undefined && <Link href={pageOf('/find', { q: endToEndId })}>{texts.payment}</Link>}
      </div>
      <Facts facts={factsOf(delivery, event?.body, speech)} />
      <Attempts attempts={attempts} />
      {event?.body !== undefined && (
        <details>
          <summary>{texts.bytes}</summary>
          <pre>{event.body}</pre>
        </details>
      )}
      <Command line={`webhooks deliveries show ${deliveryId}`} />
    </>
  );
}

/** One delivery: what became of it, its attempts, and the bytes. */
export default function DeliveryPage({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ['delivery', id],
    queryFn: async ({ signal }): Promise<Found> => {
      const evidence = await findPayment(client, id);
      // Of an event with many deliveries not all are in the evidence.
      const listed = evidence?.deliveries.find(({ deliveryId }) => deliveryId === id);
      return { delivery: listed ?? (await client.delivery(id, { signal })), evidence };
    },
    refetchInterval: (query) => slowlyFor(query.state.data?.evidence?.webhooks.length)(query),
  });
  return <Loaded query={query}>{(found) => <Shown {...found} />}</Loaded>;
}
