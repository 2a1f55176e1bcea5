import { readFileSync } from 'node:fs';
import type { ListedWebhook, WebhookInput } from '@webhooks/client';
import type { Argv, InferredOptionTypes } from 'yargs';
import { parse } from 'yaml';
import { YES } from '../arguments.js';
import { table, collect } from '../output.js';
import { toFailure } from '../failure.js';
import { requireConfirmation, online, type Session } from '../session.js';
import { COLUMNS, change } from './webhooks.js';

const KNOWN: ReadonlySet<unknown> = new Set(COLUMNS);
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Whether a value has the required names and only known ones. The service checks the values. */
const isDeclared = (value: unknown): value is WebhookInput =>
  isObject(value) &&
  'eventType' in value &&
  'endpointUrl' in value &&
  (!('ref' in value) || typeof value.ref === 'string') &&
  Object.keys(value).every((name) => KNOWN.has(name));

function readDeclared(file: string): readonly WebhookInput[] {
  const content: unknown = parse(readFileSync(file, 'utf8'));
  const list = isObject(content) && 'webhooks' in content ? content.webhooks : undefined;
  if (Array.isArray(list) && list.every(isDeclared)) {
    const keys = list.flatMap((one) => [routeOf(one), one.ref?.toLowerCase() ?? one]);
    if (new Set(keys).size === keys.length) return list;
    throw new Error(`${file} has the same ref, or the same applicationId, eventType and endpointUrl, twice`);
  }
  throw new Error(
    `${file} needs a list "webhooks"; each entry needs eventType and endpointUrl, and may have only ${COLUMNS.join(', ')}`,
  );
}

interface Step {
  readonly change: 'create' | 'update' | 'unchanged' | 'undeclared';
  readonly webhook: WebhookInput;
  readonly ref?: string;
}

const routeOf = ({ applicationId, eventType, endpointUrl }: WebhookInput): string =>
  JSON.stringify([applicationId ?? null, eventType, URL.parse(endpointUrl)?.href ?? endpointUrl]);

/** Whether a registered webhook is the declared one: by `ref`; without one, by application, event type and address. */
const isSame = (declared: WebhookInput, known: ListedWebhook): boolean =>
  declared.ref === undefined
    ? routeOf(declared) === routeOf(known)
    : declared.ref.toLowerCase() === known.ref;

function planOf(declared: readonly WebhookInput[], known: readonly ListedWebhook[]): readonly Step[] {
  const steps = declared.map((webhook): Step => {
    const found = known.find((one) => isSame(webhook, one));
    if (found === undefined) return { change: 'create', webhook };
    const { enabled = found.enabled } = webhook;
    const isEqual = routeOf(webhook) === routeOf(found) && enabled === found.enabled;
    return { change: isEqual ? 'unchanged' : 'update', webhook, ref: found.ref };
  });
  const rest = known.filter((one) => !declared.some((webhook) => isSame(webhook, one)));
  return [...steps, ...rest.map((webhook): Step => ({ change: 'undeclared', webhook, ref: webhook.ref }))];
}

/** Clears the application when none is declared. */
const declaredOnly = (webhook: WebhookInput): WebhookInput => ({ applicationId: null, ...webhook });

const OPTIONS = {
  file: { alias: 'f', type: 'string', coerce: readDeclared, demandOption: true, describe: 'YAML' },
  yes: YES,
} as const;

async function apply({ client, show, note }: Session, { file, yes }: InferredOptionTypes<typeof OPTIONS>) {
  const plan = planOf(file, await collect(client.eachWebhook()));
  const rows = plan.map((step) => ({ change: step.change, ...step.webhook, ref: step.ref }));
  show(rows, table(rows, ['change', ...COLUMNS], 'no webhook is declared or registered'));
  const changes = plan.filter(({ change: kind }) => kind === 'create' || kind === 'update');
  if (changes.length > 0) await requireConfirmation(`Make ${changes.length} changes?`, yes);
  for (const [made, { ref, webhook }] of changes.entries()) {
    const done = ref === undefined ? client.register(webhook) : change(client, ref, declaredOnly(webhook));
    await done.catch((error: unknown) => {
      const failure = toFailure(error);
      failure.message = `${made} of ${changes.length} changes made; ${webhook.endpointUrl}: ${failure.message}`;
      throw failure;
    });
  }
  note(`${changes.length} changes made, none to undeclared webhooks; to stop one: webhooks disable REF`);
}

export const addApply = (cli: Argv): Argv =>
  cli.command('apply', 'Create and update webhooks as a YAML file declares them', OPTIONS, online(apply));
