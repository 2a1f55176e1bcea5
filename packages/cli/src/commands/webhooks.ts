import type { Client, ListedWebhook, Webhook, WebhookInput } from '@webhooks/client';
import type { Argv } from 'yargs';
import { EVENT_TYPES } from '../events.js';
import { card, table } from '../output.js';
import { present } from '../present.js';
import { online } from '../session.js';
import type { Session } from '../session.js';

export const COLUMNS = ['ref', 'eventType', 'endpointUrl', 'applicationId', 'enabled'] as const;

const FIELDS = {
  'event-type': { choices: EVENT_TYPES, describe: 'What it receives' },
  'endpoint-url': { type: 'string', describe: 'Where to: https://…' },
  'application-id': { type: 'string', describe: 'Your application' },
} as const;
const NEW = {
  ...FIELDS,
  'event-type': { ...FIELDS['event-type'], demandOption: true },
  'endpoint-url': { ...FIELDS['endpoint-url'], demandOption: true },
  ref: { type: 'string', describe: 'A UUID of your own; default: the service makes one' },
  enabled: { type: 'boolean', default: true, describe: 'Whether it receives at once' },
} as const;

type Changes = { readonly [field in keyof WebhookInput]?: WebhookInput[field] | undefined };

/** Changes what is given, and leaves the rest as it is. */
export async function change(client: Client, ref: string, changes: Changes): Promise<Webhook> {
  const { eventType, endpointUrl } = await client.get(ref);
  return client.update({ ref, eventType, endpointUrl, ...present(changes) });
}

/** All of the tenant's webhooks, page by page. */
export async function listAll(
  client: Client,
  filter: Parameters<Client['list']>[0] = {},
): Promise<ListedWebhook[]> {
  const { data, nextCursor } = await client.list(filter);
  return nextCursor === undefined
    ? [...data]
    : [...data, ...(await listAll(client, { ...filter, cursor: nextCursor }))];
}

function showWebhook({ show, note }: Session, webhook: Webhook): void {
  show(webhook, card(webhook));
  if (webhook.published === false) note('It is saved, and will be in force as soon as Kafka is reachable.');
}

async function showOne({ client, show }: Session, { ref }: { readonly ref: string }): Promise<void> {
  const [webhook, health] = await Promise.all([client.get(ref), client.health(ref)]);
  const { attempts, successRate } = health.lastDay;
  const rate = successRate === undefined ? undefined : `${(successRate * 100).toFixed(1)} %`;
  const state = { ...webhook, state: health.state, attemptsLastDay: attempts, successLastDay: rate };
  const failures =
    health.failures.length === 0 ? '' : `\n\n${table(health.failures, ['class', 'count', 'lastAt'])}`;
  show({ ...webhook, health }, card(state) + failures);
}

const withRef = (own: Argv) =>
  own.positional('ref', { type: 'string', demandOption: true, describe: 'The webhook (webhooks list)' });

type WithRef = { readonly ref: string };
const setEnabled = (enabled: boolean) =>
  online(async (session, { ref }: WithRef) =>
    showWebhook(session, await change(session.client, ref, { enabled })),
  );

export const addWebhooks = (cli: Argv): Argv =>
  cli
    .command(
      'list',
      'List webhooks',
      {
        ...FIELDS,
        enabled: { type: 'boolean', describe: 'Only the enabled (--no-enabled: disabled) ones' },
      } as const,
      online(async ({ client, show }, { eventType, applicationId, enabled, endpointUrl }) => {
        const all = await listAll(client, present({ eventType, applicationId, enabled }));
        const webhooks = all.filter(
          (webhook) => endpointUrl === undefined || webhook.endpointUrl === endpointUrl,
        );
        show(webhooks, table(webhooks, COLUMNS, 'no webhook; make one: webhooks create'));
      }),
    )
    .command('show <ref>', 'Show a webhook, and how it is doing', withRef, online(showOne))
    .command(
      'create',
      'Register a webhook',
      NEW,
      online(async (session, { eventType, endpointUrl, applicationId, ref, enabled }) => {
        const rest = present({ applicationId, ref, enabled });
        showWebhook(session, await session.client.register({ eventType, endpointUrl, ...rest }));
        session.note('Next: webhooks rotate-secret REF, so that deliveries are signed.');
      }),
    )
    .command(
      'update <ref>',
      'Change a webhook',
      (own) => withRef(own).options(FIELDS),
      online(async (session, { ref, eventType, endpointUrl, applicationId }) =>
        showWebhook(session, await change(session.client, ref, { eventType, endpointUrl, applicationId })),
      ),
    )
    .command('enable <ref>', 'Let a webhook receive', withRef, setEnabled(true))
    .command('disable <ref>', 'Stop a webhook; what waits for it is cancelled', withRef, setEnabled(false))
    .command(
      'rotate-secret <ref>',
      'Make a new signing secret; the one before stays valid for 24 hours',
      withRef,
      online(async ({ client, show, note }, { ref }) => {
        const secret = await client.rotateSecret(ref);
        show(secret, card(secret));
        note('It is shown once: keep it where the receiver reads its secrets.');
      }),
    );
