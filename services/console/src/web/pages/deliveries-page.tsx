import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import type { DeliveryFilter } from '@webhooks/client';
import { useSearchParams } from 'wouter';
import { client, once } from '../api.js';
import { Options } from '../components/options.js';
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
  const others = FILTERS.filter(
    (name) => !['status', 'eventType'].includes(name) && filter[name] !== undefined,
  );
  return (
    <div className="actions">
      <Options
        label={texts.status}
        value={filter.status ?? ''}
        values={['', ...STATUSES]}
        nameOf={(status) => (status === '' ? texts.all : texts[`${status}One`])}
        onChange={(value) => onChange('status', value)}
      />
      <Options
        label={texts.type}
        value={filter.eventType ?? ''}
        values={['', ...EVENT_TYPES]}
        nameOf={(type) => type || texts.all}
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

/** Deliveries, the newest first. The filters stand in the address. */
export default function DeliveriesPage() {
  const { texts, say } = useSpeech();
  const [parameters, setParameters] = useSearchParams();
  const filter = filterOf(parameters);
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
                : say('deliveriesCount', { count: deliveries.length }, hasNextPage)}
            </Title>
            <DeliveryRows deliveries={deliveries} onEnd={more} />
          </>
        )}
      </Loaded>
      <Command line={commandFor(filter)} />
    </>
  );
}
