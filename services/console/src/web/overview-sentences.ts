import type { OverviewWebhook } from '@webhooks/client';
import { causeOf } from '@webhooks/contracts/failure-causes';
import type { Speech, Texts } from './language.js';

/** The states of webhooks that do not fail, the worst first. */
const ORDER: readonly string[] = ['deferred', 'disabled', 'idle', 'healthy'];

export const isBroken = ({ state }: Pick<OverviewWebhook, 'state'>): boolean =>
  state === 'failing' || state === 'paused';

/** A failing webhook is paused between its probes, so both states are one rank. */
const rankOf = (webhook: Pick<OverviewWebhook, 'state'>): number =>
  isBroken(webhook) ? -1 : ORDER.indexOf(webhook.state);

/** The host of an endpoint, and its path unless that is `/`. Its query may hold a password. */
export const endpointOf = (url: string): string => url.replaceAll(/^https:\/\/|[?#].*$|\/$/g, '');

/** An amount in cents: `38190.20` is 3819020. */
export const centsOf = (amount: string): number => Number(amount.replace('.', ''));
const undeliveredCents = ({ undelivered }: Pick<OverviewWebhook, 'undelivered'>): number =>
  centsOf(undelivered?.amount ?? '0.00');

/** Worst first; among equals, where most money is not delivered, and then what has failed longest. */
export const worstFirst = (webhooks: readonly OverviewWebhook[]): readonly OverviewWebhook[] =>
  webhooks.toSorted(
    (one, other) =>
      rankOf(one) - rankOf(other) ||
      undeliveredCents(other) - undeliveredCents(one) ||
      (one.since ?? '~').localeCompare(other.since ?? '~'),
  );

type ShownWebhook = Pick<
  OverviewWebhook,
  'state' | 'endpointUrl' | 'since' | 'topFailure' | 'undelivered' | 'nextProbeAt'
>;

/** What a failure means, in words. */
export function failureText(
  { class: name, code, cause }: NonNullable<OverviewWebhook['topFailure']>,
  { language }: Pick<Speech, 'language'>,
): string {
  const status = /^\d{3}$/.test(name) ? Number(name) : undefined;
  return causeOf({ error: name, code, status }, language) ?? cause ?? code ?? name;
}

function undeliveredText({ undelivered }: ShownWebhook, { say, money }: Speech): string {
  if (undelivered === undefined || undelivered.events === 0) return '';
  const { atLeast, events, amount } = undelivered;
  return say('notDelivered', { events, amount: money(amount) }, atLeast);
}

/** Says what is wrong with a webhook, since when, how much is not delivered, and when it goes on. */
export function webhookSentence(webhook: ShownWebhook, speech: Speech): string {
  const { say, since, relative } = speech;
  const { topFailure, nextProbeAt = '' } = webhook;
  const endpoint = endpointOf(webhook.endpointUrl);
  if (!isBroken(webhook)) return say(`${webhook.state}Sentence` as keyof Texts, { endpoint });
  const cause = topFailure ? failureText(topFailure, speech) : '';
  const began = webhook.since === undefined ? '' : since(webhook.since);
  const isAhead = Date.parse(nextProbeAt) > Date.now();
  const parts = [
    say('failing', { endpoint, since: began, cause }),
    undeliveredText(webhook, speech),
    isAhead ? say('nextAttempt', { at: relative(nextProbeAt) }) : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** Says how many fail, and how much of all of them is not delivered. A payment that two webhooks did not get is two notifications. */
function allBroken(broken: readonly OverviewWebhook[], { texts, say, money }: Speech): string {
  const sums = broken.flatMap(({ undelivered = [] }) => undelivered);
  const events = sums.reduce((sum, one) => sum + one.events, 0);
  const cents = sums.reduce((sum, one) => sum + centsOf(one.amount), 0);
  const least = sums.some(({ atLeast }) => atLeast) ? texts.least : '';
  return say('allBroken', { count: broken.length, least, events, amount: money((cents / 100).toFixed(2)) });
}

/** Says how all webhooks do: how many fail and what is not delivered, and then what is wrong with the worst. */
export function overviewSentence(webhooks: readonly OverviewWebhook[], speech: Speech): string {
  const [worst] = worstFirst(webhooks);
  if (worst === undefined) return speech.texts.noWebhook;
  const broken = webhooks.filter(isBroken);
  if (broken.length > 1) return `${allBroken(broken, speech)} ${webhookSentence(worst, speech)}`;
  if (['healthy', 'idle'].includes(worst.state)) return speech.say('allWell', { count: webhooks.length });
  return webhookSentence(worst, speech);
}
