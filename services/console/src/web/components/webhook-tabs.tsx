import type { Change as ChangeMade, DeliveryPolicy, Webhook, WebhookSecret } from '@webhooks/client';
import { useState } from 'react';
import { Link } from 'wouter';
import { client, once, useCall } from '../api.js';
import { useSpeech, type Speech } from '../language.js';
import { ConfirmedChange } from './change.js';
import { Command, Copy } from './command.js';
import { DeliveryRows } from './delivery-rows.js';
import { Facts, type FactsProps } from './facts.js';
import { pageOf } from './frame.js';
import { Loaded } from './loaded.js';
import { Table, type Column } from './table.js';

interface TabProps {
  readonly webhook: Webhook;
}

/** How many deliveries stand on the page of their webhook; all are one link away. */
const NEWEST = 20;

export function DeliveriesTab({ webhook: { ref } }: TabProps) {
  const { texts } = useSpeech();
  const filter = { ref, limit: NEWEST };
  const query = useCall(['deliveries of', ref], (options) => client.deliveries(filter, options), once);
  return (
    <Loaded query={query} isPolled={false}>
      {({ data }) => (
        <>
          {data.length === 0 ? <p>{texts.noDelivery}</p> : <DeliveryRows deliveries={data} />}
          <p>
            <Link href={pageOf('/deliveries', { ref })}>{texts.allDeliveries}</Link>
          </p>
        </>
      )}
    </Loaded>
  );
}

/** The terms of a policy, as names and values. */
function policyFacts(policy: DeliveryPolicy, { texts, count, time }: Speech): FactsProps['facts'] {
  const { timeoutMs, maxConcurrency, format, retryDelays, headers = {}, clientCertificate } = policy;
  const orDefault = (value: string | undefined): string => value ?? texts.byDefault;
  return [
    [texts.timeout, orDefault(timeoutMs === undefined ? undefined : `${count(timeoutMs)} ms`)],
    [texts.concurrency, orDefault(maxConcurrency === undefined ? undefined : count(maxConcurrency))],
    [texts.format, orDefault(format)],
    [texts.retryDelays, orDefault(retryDelays?.join(', '))],
    ...Object.entries(headers).map(([name, { endsWith = '' }]) => [name, `…${endsWith}`] as const),
    [texts.certificate, clientCertificate?.subject],
    [texts.validUntil, clientCertificate && time(clientCertificate.notAfter)],
  ];
}

export function PolicyTab({ webhook: { ref } }: TabProps) {
  const speech = useSpeech();
  const query = useCall(['policy', ref], (options) => client.policy(ref, options));
  return (
    <>
      <Loaded query={query}>{(policy) => <Facts facts={policyFacts(policy, speech)} />}</Loaded>
      <Command line={`webhooks policy ${ref}`} />
    </>
  );
}

/** Makes a signing secret, and shows it once: it is nowhere but on this page, and gone when the page is left. */
export function SecretTab({ webhook: { ref, hasSecret, secretRotatedAt } }: TabProps) {
  const { texts, say, time } = useSpeech();
  const [made, setMade] = useState<WebhookSecret>();
  return (
    <>
      <p>
        {hasSecret ? texts.isSigned : texts.isUnsigned}{' '}
        {secretRotatedAt !== undefined && say('secretSince', { since: time(secretRotatedAt) })}
      </p>
      <ConfirmedChange
        label={texts.rotate}
        ask={() => Promise.resolve(hasSecret ? texts.rotateQuestion : texts.rotatedFirst)}
        change={async () => setMade(await client.rotateSecret(ref))}
      />
      {made && (
        <p role="status">
          <code className="secret">{made.secret}</code> <Copy text={made.secret} />{' '}
          {made.previousValidUntil === undefined
            ? texts.rotatedFirst
            : say('rotated', { until: time(made.previousValidUntil) })}
        </p>
      )}
      <Command line={`webhooks rotate-secret ${ref}`} />
    </>
  );
}

const fieldText = ({ field, from = '–', to = '–' }: ChangeMade['fields'][number]): string =>
  `${field}: ${String(from)} → ${String(to)}`;

const changeColumns = ({ texts, time }: Speech): readonly Column<ChangeMade>[] => [
  { head: texts.time, cell: ({ at }) => time(at) },
  { head: texts.startedBy, cell: ({ client: by, person }) => person ?? by },
  { head: texts.action, cell: ({ action }) => texts[action] },
  { head: texts.changes, cell: ({ fields }) => fields.map(fieldText).join('; ') },
];

export function ChangesTab({ webhook: { ref } }: TabProps) {
  const speech = useSpeech();
  const query = useCall(['changes', ref], (options) => client.changes(ref, options));
  return (
    <>
      <Loaded query={query}>
        {({ data }) => (
          <Table
            caption={speech.texts.changes}
            columns={changeColumns(speech)}
            rows={data}
            keyOf={({ revision, action }) => `${revision} ${action}`}
          />
        )}
      </Loaded>
      <Command line={`webhooks changes ${ref}`} />
    </>
  );
}
