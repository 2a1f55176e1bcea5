import type { Change, Client, Webhook, WebhookInput, DeliveryPolicy, PolicyInput } from '@webhooks/client';
import type { Argv } from 'yargs';
import { EVENT_TYPES, FILE, positional, REF, textOf, YES } from '../arguments.js';
import { usage } from '../failure.js';
import { card, dim, table, collect, present } from '../output.js';
import { requireConfirmation, showing } from '../session.js';
import { parse } from 'yaml';

export const COLUMNS = ['ref', 'eventType', 'endpointUrl', 'applicationId', 'enabled'] as const;

const FIELDS = {
  'event-type': { choices: EVENT_TYPES, describe: 'What it receives' },
  'endpoint-url': { type: 'string', describe: 'Address of the receiver: https://…' },
  'application-id': { type: 'string', describe: 'Your application' },
} as const;
const ENABLED = { type: 'boolean', describe: 'Whether it receives events; --no-enabled: no' } as const;
const SECRET = { ...FILE, describe: 'File with a secret of your own (whsec_…); -: standard input' } as const;

type Changes = { readonly [field in keyof WebhookInput]?: WebhookInput[field] | undefined };

/** Updates the given fields of a webhook and no others. */
export async function change(client: Client, ref: string, changes: Changes): Promise<Webhook> {
  const { eventType, endpointUrl } = await client.get(ref);
  return client.update({ ref, eventType, endpointUrl, ...present(changes) });
}

const withRef = positional('ref', 'The webhook (webhooks list)');
type WithRef = { readonly ref: string };
const withYes = (own: Argv) => withRef(own).option('yes', YES);

const enable = showing((client, { ref }: WithRef) => change(client, ref, { enabled: true }));

/** Disables a webhook. At a terminal it asks first, because waiting deliveries are cancelled when they are due. */
const disable = showing(async (client, { ref, yes }: WithRef & { readonly yes: boolean }) => {
  if (!yes && process.stdin.isTTY) {
    const { results, nextCursor } = await client.deliveries({ ref, status: 'pending' });
    const waiting = `${results}${nextCursor === undefined ? '' : ' or more'}`;
    await requireConfirmation(`Disable it? Waiting deliveries, cancelled when due: ${waiting}`, false);
  }
  return change(client, ref, { enabled: false });
});

const fieldText = ({ field, from = '–', to = '–' }: Change['fields'][number]): string =>
  `${field}: ${String(from)} → ${String(to)}`;

const CHANGE_COLUMNS = ['at', 'client', 'person', 'action', 'changed'];

const addSwitches = (cli: Argv): Argv =>
  cli
    .command('enable <ref>', 'Enable a webhook', withRef, enable)
    .command('disable <ref>', 'Disable a webhook; cancels waiting deliveries', withYes, disable)
    .command(
      'changes <ref>',
      'Show who changed a webhook, when and how',
      withRef,
      showing(
        (client, { ref }) => client.changes(ref),
        ({ data }) => {
          const rows = data.map((one) => ({ ...one, changed: one.fields.map(fieldText).join('; ') }));
          return table(rows, CHANGE_COLUMNS, 'no change is known');
        },
      ),
    )
    .command(
      'rotate-secret <ref>',
      'Create a signing secret, or set your own; the previous one stays valid for 24 hours',
      (own) => withRef(own).option('secret-file', SECRET),
      showing(
        (client, { ref, secretFile }) => client.rotateSecret(ref, present({ secret: secretFile })),
        card,
        () => 'The secret is shown only once: store it.',
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
        (webhooks) => table(webhooks, COLUMNS, 'no webhook; create one: webhooks create'),
      ),
    )
    .command(
      'show <ref>',
      'Show a webhook and its health',
      withRef,
      showing(
        async (client, { ref }) => ({ ...(await client.get(ref)), health: await client.health(ref) }),
        ({ health: { failures, state, until, failingSince, lastDay }, ...webhook }) =>
          `${card({ ...webhook, ...present({ state, until, failingSince }) })}\n\n${dim('LAST DAY')}\n${card(lastDay)}\n\n` +
          table(failures, ['class', 'code', 'count', 'lastAt', 'cause'], 'no failures'),
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
          throw usage('nothing to change', 'use --event-type, --endpoint-url or --application-id');
        return change(client, ref, { eventType, endpointUrl, applicationId });
      }),
    );

/** Reads a policy; the service checks its members. Pretty errors would show the line, which may hold a secret. */
function readPolicy(file: string): PolicyInput {
  const policy: unknown = parse(textOf(file), { prettyErrors: false, merge: true });
  if (policy instanceof Object) return policy;
  throw new Error('expected a policy, such as `timeoutMs: 20000`');
}

const OPTIONS = {
  file: { alias: 'f', ...FILE, coerce: readPolicy, describe: 'Replace it by this YAML; -: standard input' },
  certificate: { ...FILE, implies: 'key', describe: 'Client certificate and its chain, PEM' },
  key: { ...FILE, implies: 'certificate', describe: 'The key of the certificate, PEM' },
  remove: { type: 'boolean', conflicts: 'file', describe: 'Return to the defaults' },
} as const;

function policyText({ headers = {}, clientCertificate, retryDelays, ...plain }: DeliveryPolicy): string {
  const waits = retryDelays && { retryDelays: retryDelays.join(' ') };
  const rows = Object.entries(headers).map(([header, value]) => ({ header, ...value }));
  const shown = card({ ...plain, ...waits, ...clientCertificate });
  const all = rows.length === 0 ? shown : `${shown}\n\n${table(rows, ['header', 'endsWith'])}`;
  return all.trim() || dim('the defaults');
}

export const addPolicy = (cli: Argv): Argv =>
  cli.command(
    'policy <ref>',
    "Show or replace a webhook's delivery policy; secret values that are left out stay",
    (own) => withRef(own).options(OPTIONS),
    showing(async (client, { ref, file, certificate, key, remove }) => {
      if (remove) await client.removePolicy(ref);
      const pair = certificate && key && { clientCertificate: { certificate, key } };
      if (file) return client.setPolicy(ref, { ...file, ...pair });
      const known = await client.policy(ref);
      if (!pair) return known;
      const { headers, clientCertificate, ...plain } = known;
      return client.setPolicy(ref, { ...plain, ...pair });
    }, policyText),
  );
