import { useMutation } from '@tanstack/react-query';
import type { AlertEndpoint, AlertEndpointInput } from '@webhooks/client';
import type { SubmitEvent } from 'react';
import { client, fieldOf, mayChange, queryClient, useCall } from '../api.js';
import { ConfirmedChange } from '../components/change.js';
import { Options } from '../components/options.js';
import { Command } from '../components/command.js';
import { Failure, Loaded } from '../components/loaded.js';
import { Table, type Column } from '../components/table.js';
import { Title } from '../components/title.js';
import { useSpeech, type Speech } from '../language.js';
import { endpointOf } from '../overview-sentences.js';

const columnsIn = ({ texts }: Speech): readonly Column<AlertEndpoint>[] => [
  { head: texts.address, cell: ({ endpointUrl }) => endpointOf(endpointUrl) },
  { head: texts.format, cell: ({ format }) => format },
  { head: texts.language, cell: ({ language }) => language },
  {
    head: texts.action,
    cell: ({ ref }) => (
      <ConfirmedChange
        label={texts.remove}
        ask={() => Promise.resolve(texts.removeAlert)}
        change={() => client.deleteAlertEndpoint(ref)}
      />
    ),
  },
];

const FORMATS = ['text', 'event'] as const;
const LANGUAGES = { pt: ['pt-BR', 'en'], en: ['en', 'pt-BR'] } as const;

/** Registers an alert endpoint. */
function NewAlert() {
  const { texts, language } = useSpeech();
  const languages = LANGUAGES[language];
  const { mutate, error, isPending, variables } = useMutation({
    mutationFn: (input: AlertEndpointInput) => client.createAlertEndpoint(input),
    onSuccess: () => queryClient.invalidateQueries(),
  });
  if (!mayChange()) return null;
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    mutate({
      endpointUrl: fieldOf(form, 'endpointUrl'),
      format: FORMATS.find((one) => one === fieldOf(form, 'format')) ?? FORMATS[0],
      language: languages.find((one) => one === fieldOf(form, 'language')) ?? languages[0],
    });
  };
  return (
    <form onSubmit={submit} className="actions">
      <label>
        {texts.address}{' '}
        <input type="url" name="endpointUrl" maxLength={2048} required placeholder="https://" />
      </label>
      <Options label={texts.format} name="format" values={FORMATS} />
      <Options label={texts.language} name="language" values={languages} />
      <button type="submit" disabled={isPending}>
        {isPending ? texts.working : texts.add}
      </button>
      {error && <Failure error={error} onRetry={() => mutate(variables)} />}
    </form>
  );
}

/** Who is told when a webhook fails. */
export default function AlertsPage() {
  const speech = useSpeech();
  const { texts, say } = speech;
  const query = useCall(['alerts'], client.alertEndpoints);
  return (
    <>
      <Loaded query={query}>
        {({ data }) => (
          <>
            <Title>{data.length === 0 ? texts.noAlert : say('alertsCount', { count: data.length })}</Title>
            <NewAlert />
            <Table caption={texts.alerts} columns={columnsIn(speech)} rows={data} keyOf={({ ref }) => ref} />
          </>
        )}
      </Loaded>
      <Command line="webhooks alerts list" />
    </>
  );
}
