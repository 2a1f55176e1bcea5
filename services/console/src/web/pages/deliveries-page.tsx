import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import type { DeliveryFilter } from '@webhooks/client';
import { useSearchParams } from 'wouter';
import { client, once } from '../api.js';
import { Choice } from '../components/choice.js';
import { Command } from '../components/command.js';
import { DeliveryRows } from '../components/delivery-rows.js';
import { Loaded } from '../components/loaded.js';
import { commandFor, EVENT_TYPES, filterOf, FILTERS, STATUSES } from '../delivery-filter.js';
import { Title } from '../components/title.js';
import { useSpeech } from '../language.js';

/** The most that the service lists at once. */
const PAGE = 200;

interface FiltersProps {
  readonly filter: DeliveryFilter;
  /** An empty value removes a filter. */
  readonly onChange: (name: string, value: string) => void;
}

/** What is filtered by: two choices, and each other filter of the address as a button that removes it. */
function Filters({ filter, onChange }: FiltersProps) {
  const { texts } = useSpeech();
  const statuses = STATUSES.map((status) => [status, texts[`${status}One`]] as const);
  const types = EVENT_TYPES.map((type) => [type, type] as const);
  const others = FILTERS.filter(
    (name) => !['status', 'eventType'].includes(name) && filter[name] !== undefined,
  );
  return (
    <div className="actions">
      <Choice
        label={texts.status}
        value={filter.status}
        choices={statuses}
        onChange={(value) => onChange('status', value)}
      />
      <Choice
        label={texts.type}
        value={filter.eventType}
        choices={types}
        onChange={(value) => onChange('eventType', value)}
      />
      {others.map((name) => (
        <button key={name} type="button" onClick={() => onChange(name, '')}>
          {name} {filter[name]} ✕
        </button>
      ))}
    </div>
  );
}

/** Requests deliveries page by page. */
function useDeliveries(filter: DeliveryFilter) {
  const query = useInfiniteQuery({
    ...once,
    queryKey: ['deliveries', filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      client.deliveries(
        { ...filter, limit: PAGE, ...(pageParam !== '' && { cursor: pageParam }) },
        { signal },
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  });
  const { hasNextPage, isFetching, error, fetchNextPage } = query;
  const more = async (): Promise<void> => {
    if (hasNextPage && !isFetching && error === null) await fetchNextPage();
  };
  return { query, more, hasNextPage };
}

/** Deliveries, the newest first. The filters stand in the address. */
export default function DeliveriesPage() {
  const { texts, say } = useSpeech();
  const [parameters, setParameters] = useSearchParams();
  const filter = filterOf(parameters);
  const { query, more, hasNextPage } = useDeliveries(filter);
  const change = (name: string, value: string): void =>
    setParameters((now) => {
      now.set(name, value);
      return now;
    });
  return (
    <>
      <Filters filter={filter} onChange={change} />
      <Loaded query={query} isPolled={false}>
        {(deliveries) => (
          <>
            <Title>
              {deliveries.length === 0
                ? texts.noDelivery
                : say(hasNextPage ? 'deliveriesAtLeast' : 'deliveriesCount', { count: deliveries.length })}
            </Title>
            <DeliveryRows deliveries={deliveries} onEnd={more} />
          </>
        )}
      </Loaded>
      <Command line={commandFor(filter)} />
    </>
  );
}
