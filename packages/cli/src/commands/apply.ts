import type { ListedWebhook, WebhookInput } from '@webhooks/client';
import type { Argv, InferredOptionTypes } from 'yargs';
import { isNode, LineCounter, parseDocument } from 'yaml';
import { EVENT_TYPES, readText, YES } from '../arguments.js';
import { table, collect } from '../output.js';
import { toFailure } from '../failure.js';
import { requireConfirmation, online, type Session } from '../session.js';
import { COLUMNS, change } from './webhooks.js';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** What the members of an entry are, as JSON. The service checks the same and more, but one entry after the other. */
const FORMS: ReadonlyMap<string, RegExp> = new Map([
  ['ref', /^"[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}"$/i],
  ['eventType', new RegExp(`^"(${EVENT_TYPES.join('|')})"$`)],
  ['endpointUrl', /^"https:\/\/[^"]+"$/],
  ['applicationId', /^(null|".+")$/],
  ['enabled', /^(true|false)$/],
]);

/** Returns what is wrong with an entry. */
function faultOf(entry: unknown): string | undefined {
  const members = isObject(entry) ? Object.entries(entry) : [];
  const [name, value]: readonly unknown[] =
    members.find(([member, given]) => !FORMS.get(member)?.test(JSON.stringify(given))) ?? [];
  if (typeof name === 'string')
    return FORMS.has(name)
      ? `${name} cannot be ${JSON.stringify(value)}`
      : `${name} is unknown; an entry may have ${COLUMNS.join(', ')}`;
  const missing = ['eventType', 'endpointUrl'].find((one) => members.every(([member]) => member !== one));
  return missing && `${missing} is missing`;
}

/** Reads the declared webhooks. Throws an error that names each wrong entry by its line. */
function readDeclared(file: string): readonly WebhookInput[] {
  const lines = new LineCounter();
  const document = parseDocument(readText(file), { merge: true, lineCounter: lines });
  const [broken] = document.errors;
  if (broken) throw new Error(`${file}: ${broken.message}`);
  const content: unknown = document.toJS();
  const list: unknown = isObject(content) && 'webhooks' in content ? content.webhooks : undefined;
  if (!Array.isArray(list)) throw new Error(`${file} needs a list "webhooks"`);
  const seen = new Set<unknown>();
  const isRepeated = (key: unknown): boolean => seen.size === seen.add(key).size;
  const faults = list.flatMap((entry: WebhookInput, index) => {
    const node = document.getIn(['webhooks', index], true);
    const line = isNode(node) && node.range ? lines.linePos(node.range[0]).line : 1;
    const fault =
      faultOf(entry) ??
      keysOf(entry)
        .filter(isRepeated)
        .map(() => 'the same webhook twice')[0];
    return fault === undefined ? [] : [`${file}:${line}: ${fault}`];
  });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return list as readonly WebhookInput[];
}

interface Step {
  readonly change: 'create' | 'update' | 'unchanged' | 'undeclared';
  readonly webhook: WebhookInput;
  readonly ref?: string;
}

const routeOf = ({ applicationId, eventType, endpointUrl }: WebhookInput): string =>
  JSON.stringify([applicationId ?? null, eventType, URL.parse(endpointUrl)?.href ?? endpointUrl]);

/** What no other entry may have: a place and, where it is declared, a `ref`. */
const keysOf = (one: WebhookInput): readonly unknown[] => [routeOf(one), one.ref?.toLowerCase() ?? one];

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
  file: {
    alias: 'f',
    type: 'string',
    coerce: readDeclared,
    demandOption: true,
    describe: 'YAML; -: standard input',
  },
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
