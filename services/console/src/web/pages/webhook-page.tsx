import type { EndpointHealth, Webhook } from '@webhooks/client';
import { Link, useSearchParams } from 'wouter';
import { client, useCall } from '../api.js';
import { Change, ConfirmedChange } from '../components/change.js';
import { Command } from '../components/command.js';
import { pageOf } from '../components/frame.js';
import { Failure, Loaded } from '../components/loaded.js';
import { Table, type Column } from '../components/table.js';
import { ChangesTab, DeliveriesTab, PolicyTab, SecretTab } from '../components/webhook-tabs.js';
import { Title } from '../components/title.js';
import { useSpeech, type Speech } from '../language.js';
import { endpointOf, failureText, webhookSentence } from '../overview-sentences.js';

interface Shown {
  readonly webhook: Webhook;
}

const failureColumns = (speech: Speech): readonly Column<EndpointHealth['failures'][number]>[] => [
  { head: speech.texts.cause, cell: (failure) => failureText(failure, speech) },
  { head: speech.texts.failed, cell: (failure) => speech.count(failure.count), isNumber: true },
  { head: speech.texts.time, cell: (failure) => speech.time(failure.lastAt) },
];

/** How many waiting deliveries are counted before a webhook is disabled; beyond it: at least so many. */
const COUNTED = 200;

/** Tests, enables and disables a webhook. Disabling cancels what waits, so that is counted first. */
function Actions({ webhook }: Shown) {
  const { texts, say } = useSpeech();
  const { ref, enabled } = webhook;
  const turn = async () => {
    // What is shown may be old.
    const { eventType, endpointUrl } = await client.get(ref);
    return client.update({ ref, eventType, endpointUrl, enabled: !enabled });
  };
  const ask = async (): Promise<string> => {
    const { data, nextCursor } = await client.deliveries({ ref, status: 'pending', limit: COUNTED });
    return say('disableCount', { count: data.length }, nextCursor !== undefined);
  };
  return (
    <div className="actions">
      {enabled && <Change label={texts.test} change={() => client.sendTest(ref)} done={texts.sent} />}
      {enabled ? (
        <ConfirmedChange label={texts.disable} ask={ask} change={turn} />
      ) : (
        <Change label={texts.enable} change={turn} />
      )}
    </div>
  );
}

const TABS = {
  deliveries: DeliveriesTab,
  policy: PolicyTab,
  secret: SecretTab,
  changes: ChangesTab,
} as const;

/** What more is known of a webhook. The chosen tab stands in the address. */
function Tabs({ webhook }: Shown) {
  const { texts } = useSpeech();
  const [parameters] = useSearchParams();
  const names = Object.keys(TABS) as (keyof typeof TABS)[];
  const chosen = names.find((name) => name === parameters.get('tab')) ?? 'deliveries';
  const Tab = TABS[chosen];
  return (
    <section>
      <nav className="tabs" aria-label={texts.webhook}>
        {names.map((tab) => (
          <Link
            key={tab}
            href={pageOf(`/webhooks/${webhook.ref}`, { tab })}
            aria-current={tab === chosen ? 'true' : undefined}
          >
            {texts[tab]}
          </Link>
        ))}
      </nav>
      <Tab webhook={webhook} />
    </section>
  );
}

function Page({ webhook }: Shown) {
  const speech = useSpeech();
  const { texts } = speech;
  const { ref, endpointUrl, eventType } = webhook;
  const health = useCall(['health', ref], (options) => client.health(ref, options));
  // The title says of a webhook what its row of the overview says. Its health judges a day, so it may differ.
  const overview = useCall(['overview'], client.overview);
  const failed = [health, overview].find(({ error }) => error !== null);
  const row = overview.data?.data.find((one) => one.ref === ref);
  return (
    <>
      {/* What config-api knows is shown, also while query-api does not answer. */}
      <Title>{row ? webhookSentence(row, speech) : endpointOf(endpointUrl)}</Title>
      {failed?.error && <Failure error={failed.error} onRetry={failed.refetch} />}
      <p>
        {eventType} · <code>{ref}</code>
      </p>
      <Actions webhook={webhook} />
      <Table
        caption={texts.failures}
        columns={failureColumns(speech)}
        rows={health.data?.failures ?? []}
        keyOf={({ class: name, code = '' }) => `${name} ${code}`}
      />
      <Tabs webhook={webhook} />
      <Command line={`webhooks show ${ref}`} />
    </>
  );
}

/** One webhook: why it fails, and what can be done. */
export default function WebhookPage({ webhookRef: ref }: { readonly webhookRef: string }) {
  const query = useCall(['webhook', ref], (options) => client.get(ref, options));
  return <Loaded query={query}>{(webhook) => <Page webhook={webhook} />}</Loaded>;
}
