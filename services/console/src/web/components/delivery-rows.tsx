import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { isTestEvent, type DeliverySummary } from '@webhooks/client';
import { useEffect, useRef, type RefObject } from 'react';
import { Link } from 'wouter';
import { useSpeech } from '../language.js';
import { endpointOf } from '../overview-sentences.js';
import { pageOf, useKey } from './frame.js';

/** Height of a row before it is measured. */
const ROW_PX = 56;

/** Names the columns, where there are any: a narrow screen has cards. */
function Heads() {
  const { texts } = useSpeech();
  const heads = ['status', 'time', 'type', 'amount', 'webhook', 'response'] as const;
  return (
    <div className="row heads" aria-hidden="true">
      {heads.map((head) => (
        <span key={head} className={head === 'amount' ? 'number' : undefined}>
          {texts[head]}
        </span>
      ))}
    </div>
  );
}

function Row({ delivery }: { readonly delivery: DeliverySummary }) {
  const { texts, time, money } = useSpeech();
  const { status, eventType, amount } = delivery;
  return (
    <Link href={pageOf(`/deliveries/${delivery.deliveryId}`)} className="row">
      <span className={`state ${status}`}>{texts[`${status}One`]}</span>
      <span>{time(delivery.createdAt)}</span>
      <span>{isTestEvent(delivery.eventId) ? `${eventType}, ${texts.ofTest}` : eventType}</span>
      <span className="number">{amount === undefined ? '–' : money(amount)}</span>
      <span className="cause">{endpointOf(delivery.endpointUrl ?? delivery.ref)}</span>
      <span>{delivery.lastStatus ?? delivery.lastCode ?? delivery.lastError ?? '–'}</span>
    </Link>
  );
}

/** Moves the focus to the next row at j, and to the one before at k. Enter opens a link by itself. */
function useRowKeys(box: RefObject<HTMLElement | null>): void {
  const move = (by: number) => (): void => {
    const rows = [...(box.current?.querySelectorAll<HTMLElement>('a.row') ?? [])];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    rows[Math.max(0, at + by)]?.focus();
  };
  useKey('j', move(1));
  useKey('k', move(-1));
}

interface DeliveryRowsProps {
  readonly deliveries: readonly DeliverySummary[];
  /** Called when the last one is seen. */
  readonly onEnd?: () => Promise<void>;
}

/** A list of any length: only what is seen is in the page. */
export function DeliveryRows({ deliveries, onEnd }: DeliveryRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useWindowVirtualizer({
    count: deliveries.length,
    estimateSize: () => ROW_PX,
    overscan: 10,
    scrollMargin: box.current?.offsetTop ?? 0,
  });
  useRowKeys(box);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    // What fails is shown by the page.
    if (last >= deliveries.length - 1) onEnd?.().catch(() => undefined);
  }, [last, deliveries.length, onEnd]);
  return (
    <>
      {deliveries.length > 0 && <Heads />}
      <div ref={box} className="rows" role="list" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const delivery = deliveries[index];
          const top = start - virtual.options.scrollMargin;
          return (
            delivery && (
              <div
                key={delivery.deliveryId}
                role="listitem"
                data-index={index}
                ref={virtual.measureElement}
                style={{ transform: `translateY(${top}px)` }}
              >
                <Row delivery={delivery} />
              </div>
            )
          );
        })}
      </div>
    </>
  );
}
