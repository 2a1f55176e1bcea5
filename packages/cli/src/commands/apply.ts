import { readFileSync } from 'node:fs';
import type { ListedWebhook, WebhookInput } from '@webhooks/client';
import type { Argv } from 'yargs';
import { parse } from 'yaml';
import { confirmed } from '../confirm.js';
import { EVENT_TYPES } from '../events.js';
import { usage } from '../failure.js';
import { table } from '../output.js';
import { online } from '../session.js';
import type { Session } from '../session.js';
import { COLUMNS, change, listAll } from './webhooks.js';

const KNOWN: ReadonlySet<string> = new Set(COLUMNS);
const types: ReadonlySet<unknown> = new Set(EVENT_TYPES);

/** The service judges the values; here a typo in a name must not pass. */
function isDeclared(value: unknown): value is WebhookInput {
  if (typeof value !== 'object' || value === null || !('eventType' in value) || !('endpointUrl' in value))
    return false;
  return types.has(value.eventType) && Object.keys(value).every((name) => KNOWN.has(name));
}

function readDeclared(file: string): readonly WebhookInput[] {
  let content: unknown;
  try {
    content = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw usage(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const list =
    typeof content === 'object' && content !== null && 'webhooks' in content ? content.webhooks : undefined;
  if (!Array.isArray(list))
    throw usage(`${file} has no list "webhooks"`, 'see the README of the command line');
  const wrong = list.findIndex((one) => !isDeclared(one));
  if (wrong === -1) return list.filter(isDeclared);
  throw usage(
    `${file}: webhook ${wrong + 1} needs eventType and endpointUrl, and may have ${COLUMNS.join(', ')}`,
  );
}

interface Step {
  readonly change: 'create' | 'update' | 'unchanged' | 'undeclared';
  readonly webhook: WebhookInput;
  readonly ref?: string;
}

const place = ({ applicationId, eventType, endpointUrl }: WebhookInput): string =>
  JSON.stringify([applicationId ?? null, eventType, URL.parse(endpointUrl)?.href ?? endpointUrl]);

/** By its `ref`, or where it has none by application, event type and address. */
const isSame = (declared: WebhookInput, there: ListedWebhook): boolean =>
  declared.ref === undefined ? place(declared) === place(there) : declared.ref.toLowerCase() === there.ref;

function planOf(declared: readonly WebhookInput[], there: readonly ListedWebhook[]): readonly Step[] {
  const steps = declared.map((webhook): Step => {
    const found = there.find((one) => isSame(webhook, one));
    if (found === undefined) return { change: 'create', webhook };
    const { enabled = found.enabled } = webhook;
    const isEqual = place(webhook) === place(found) && enabled === found.enabled;
    return { change: isEqual ? 'unchanged' : 'update', webhook, ref: found.ref };
  });
  const rest = there.filter((one) => !declared.some((webhook) => isSame(webhook, one)));
  return [...steps, ...rest.map((webhook): Step => ({ change: 'undeclared', webhook, ref: webhook.ref }))];
}

async function apply(
  { client, show, note }: Session,
  { file, yes }: { file: string; yes: boolean },
): Promise<void> {
  const plan = planOf(readDeclared(file), await listAll(client));
  const rows = plan.map((step) => ({ change: step.change, ...step.webhook, ref: step.ref }));
  show(rows, table(rows, ['change', ...COLUMNS], 'nothing declared, nothing there'));
  const changes = plan.filter(({ change: kind }) => kind === 'create' || kind === 'update');
  if (changes.length === 0) {
    note('Nothing to change.');
    return;
  }
  await confirmed(`Make ${changes.length} changes?`, yes);
  for (const { ref, webhook } of changes)
    await (ref === undefined
      ? client.register(webhook)
      : change(client, ref, { applicationId: null, ...webhook }));
  note(`${changes.length} changes made. What is undeclared was left alone: webhooks disable REF`);
}

export const addApply = (cli: Argv): Argv =>
  cli.command(
    'apply',
    'Make the webhooks as a YAML file declares them',
    {
      file: { alias: 'f', type: 'string', demandOption: true, describe: 'Holds a list "webhooks"' },
      yes: { alias: 'y', type: 'boolean', default: false, describe: 'Do not ask' },
    } as const,
    online(apply),
  );
