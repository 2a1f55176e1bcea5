import type { Client, EndpointHealth, Webhook, WebhookInput } from '@webhooks/client';
import type { Argv } from 'yargs';
import { EVENT_TYPES, FILE, positional } from '../arguments.js';
import { usage } from '../failure.js';
import { card, dim, table } from '../output.js';
import { collect, present } from '../present.js';
import { showing } from '../session.js';

export const COLUMNS = ['ref', 'eventType', 'endpointUrl', 'applicationId', 'enabled'] as const;

const FIELDS = {
  'event-type': { choices: EVENT_TYPES, describe: 'What it receives' },
  'endpoint-url': { type: 'string', describe: 'Where to: https://…' },
  'application-id': { type: 'string', describe: 'Your application' },
} as const;
const ENABLED = { type: 'boolean', describe: 'Whether it receives; --no-enabled: it does not' } as const;
const SECRET = { ...FILE, describe: 'One of your own (whsec_…); -: standard input' } as const;
const REF = { type: 'string', describe: 'A UUID of your own; default: the service makes one' } as const;

type Changes = { readonly [field in keyof WebhookInput]?: WebhookInput[field] | undefined };

/** Changes what is given, and leaves the rest as it is. */
export async function change(client: Client, ref: string, changes: Changes): Promise<Webhook> {
  const { eventType, endpointUrl } = await client.get(ref);
  return client.update({ ref, eventType, endpointUrl, ...present(changes) });
}

function healthText({ health, ...webhook }: Webhook & { readonly health: EndpointHealth }): string {
  const failures = table(health.failures, ['class', 'code', 'count', 'lastAt', 'cause'], 'no failures');
  const { state, until, failingSince, lastDay } = health;
  return `${card({ ...webhook, ...present({ state, until, failingSince }) })}\n\n${dim('LAST DAY')}\n${card(lastDay)}\n\n${failures}`;
}

export const withRef = positional('ref', 'The webhook (webhooks list)');
type WithRef = { readonly ref: string };
const setEnabled = (enabled: boolean) =>
  showing((client, { ref }: WithRef) => change(client, ref, { enabled }));

const keepIt = (): string => 'It is shown once: keep it.';

const addSwitches = (cli: Argv): Argv =>
  cli
    .command('enable <ref>', 'Let a webhook receive', withRef, setEnabled(true))
    .command('disable <ref>', 'Stop a webhook; what waits for it is cancelled', withRef, setEnabled(false))
    .command(
      'rotate-secret <ref>',
      'Make a new signing secret, or bring one along; the one before stays valid for 24 hours',
      (own) => withRef(own).option('secret-file', SECRET),
      showing(
        (client, { ref, secretFile }) => client.rotateSecret(ref, present({ secret: secretFile })),
        card,
        keepIt,
      ),
    );

export const addWebhooks = (cli: Argv): Argv =>
  addSwitches(cli)
    .command(
      'list',
      'List webhooks',
      (own) => own.options({ ...FIELDS, enabled: ENABLED }),
      showing(
        (client, { eventType, applicationId, enabled }) =>
          collect(client.eachWebhook(present({ eventType, applicationId, enabled }))),
        (webhooks) => table(webhooks, COLUMNS, 'no webhook; make one: webhooks create'),
      ),
    )
    .command(
      'show <ref>',
      'Show a webhook, and how it is doing',
      withRef,
      showing(
        async (client, { ref }) => ({ ...(await client.get(ref)), health: await client.health(ref) }),
        healthText,
      ),
    )
    .command(
      'create',
      'Register a webhook',
      (own) =>
        own.options({ ...FIELDS, enabled: ENABLED, ref: REF }).demandOption(['event-type', 'endpoint-url']),
      showing(
        (client, { eventType, endpointUrl, ...rest }) => {
          const { applicationId, ref, enabled } = rest;
          return client.register({ eventType, endpointUrl, ...present({ applicationId, ref, enabled }) });
        },
        card,
        ({ ref }) => `Next: webhooks rotate-secret ${ref}`,
      ),
    )
    .command(
      'update <ref>',
      'Change a webhook',
      (own) => withRef(own).options(FIELDS),
      showing((client, { ref, eventType, endpointUrl, applicationId }) => {
        if ([eventType, endpointUrl, applicationId].every((given) => given === undefined))
          throw usage('nothing to change', 'say --event-type, --endpoint-url or --application-id');
        return change(client, ref, { eventType, endpointUrl, applicationId });
      }),
    );
