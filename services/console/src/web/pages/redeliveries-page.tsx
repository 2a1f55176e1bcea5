import { useMutation } from '@tanstack/react-query';
import type { Redelivery, RedeliveryInput } from '@webhooks/client';
import { useState, type SubmitEvent } from 'react';
import { Link } from 'wouter';
import { client, fieldOf, mayChange, useCall } from '../api.js';
import { Change } from '../components/change.js';
import { Options } from '../components/options.js';
import { Command } from '../components/command.js';
import { pageOf } from '../components/frame.js';
import { Failure, Loaded } from '../components/loaded.js';
import { Table, type Column } from '../components/table.js';
import { Title } from '../components/title.js';
import { useSpeech, type Speech } from '../language.js';
import { OFFSET } from '../days.js';
import { endpointOf } from '../overview-sentences.js';
import { doneOf, progressText } from '../redelivery-progress.js';

/** What the states of a job are called. */
const JOB_STATES = { running: 'jobRuns', completed: 'jobCompleted', cancelled: 'jobCancelled' } as const;
/** The most webhooks that the service lists at once. */
const LISTED = 1_000;
/** The most jobs that the service lists at once. */
const JOBS = 200;
const KINDS = ['dead', 'cancelled', 'delivered', 'missed'] as const;

const columnsIn = (speech: Speech): readonly Column<Redelivery>[] => [
  { head: speech.texts.time, cell: ({ createdAt }) => speech.time(createdAt) },
  { head: speech.texts.status, cell: ({ state }) => speech.texts[JOB_STATES[state]] },
  {
    head: speech.texts.deliveries,
    cell: ({ filter }) => (
      <>
        {speech.texts[`${filter.status}One`]}, {speech.texts.since} {speech.time(filter.from)}{' '}
        {filter.ref !== undefined && (
          <Link href={pageOf(`/webhooks/${filter.ref}`)}>{speech.texts.webhook}</Link>
        )}
      </>
    ),
  },
  {
    head: speech.texts.progress,
    cell: (job) => (
      <>
        <progress value={doneOf(job)} max={Math.max(1, job.matched)} aria-label={speech.texts.progress} />{' '}
        {progressText(job, speech)}
      </>
    ),
  },
  { head: speech.texts.startedBy, cell: ({ startedBy }) => startedBy.person ?? startedBy.client },
  {
    head: speech.texts.action,
    cell: ({ id, state }) =>
      state === 'running' && (
        <Change label={speech.texts.cancel} change={() => client.cancelRedelivery(id)} />
      ),
  },
];

/** Reads the form of a job; times are São Paulo's. */
function inputOf(form: FormData): RedeliveryInput {
  const ref = fieldOf(form, 'ref');
  return {
    status: KINDS.find((kind) => kind === fieldOf(form, 'status')) ?? KINDS[0],
    from: new Date(`${fieldOf(form, 'from')}:00${OFFSET}`).toISOString(),
    ...(ref !== '' && { ref }),
  };
}

/** Chooses one of the webhooks that take deliveries: to a disabled one nothing is sent. */
function WebhookChoice({ isRequired }: { readonly isRequired: boolean }) {
  const { texts } = useSpeech();
  const filter = { enabled: true, limit: LISTED };
  const { data } = useCall(['webhooks'], (options) => client.list(filter, options));
  return (
    <label>
      {texts.webhook}{' '}
      <select name="ref" required={isRequired}>
        <option value="">{isRequired ? '' : texts.all}</option>
        {data?.data.map(({ ref, eventType, endpointUrl }) => (
          <option key={ref} value={ref}>
            {eventType} · {endpointOf(endpointUrl)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Counts first, then sends: nothing is sent before its number was seen. A change of the form needs a new count. */
function NewJob() {
  const { texts, say } = useSpeech();
  const counting = useMutation({ mutationFn: (input: RedeliveryInput) => client.countRedelivery(input) });
  const { data: counted, error, variables: input, mutate, reset } = counting;
  const [kind, setKind] = useState<string>(KINDS[0]);
  if (!mayChange()) return null;
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    mutate(inputOf(new FormData(event.currentTarget)));
  };
  const send = async (wanted: RedeliveryInput): Promise<void> => {
    await client.startRedelivery(wanted);
    reset();
  };
  return (
    <form onSubmit={submit} onChange={reset} className="actions">
      <Options
        label={texts.status}
        name="status"
        values={KINDS}
        nameOf={(one) => texts[`${one}One`]}
        onChange={setKind}
      />
      <label>
        {texts.from} <input type="datetime-local" name="from" required />
      </label>
      <WebhookChoice isRequired={kind === 'missed'} />
      <button type="submit">{texts.countThem}</button>
      {error && <Failure error={error} onRetry={() => mutate(input)} />}
      {counted && (
        <p role="status">
          {say('matched', { count: counted.matched }, counted.matchedIsLowerBound)}{' '}
          {input.ref === undefined && texts.toEnabledOnly}{' '}
          {counted.matched > 0 && <Change label={texts.sendThem} change={() => send(counted.filter)} />}
        </p>
      )}
    </form>
  );
}

/** Jobs that send many deliveries again. */
export default function RedeliveriesPage() {
  const speech = useSpeech();
  const { texts, say } = speech;
  const query = useCall(['redeliveries'], (options) => client.redeliveries({ limit: JOBS }, options));
  return (
    <>
      <Loaded query={query}>
        {({ data }) => {
          const running = data.filter(({ state }) => state === 'running').length;
          return (
            <>
              <Title>{running === 0 ? texts.noJob : say('jobsRun', { count: running })}</Title>
              <NewJob />
              <Table
                caption={texts.redeliveries}
                columns={columnsIn(speech)}
                rows={data}
                keyOf={({ id }) => id}
              />
            </>
          );
        }}
      </Loaded>
      <Command line="webhooks redeliveries list" />
    </>
  );
}
