import { AppError } from '@webhooks/http-api';
import { repeatUntilClose } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import type { ConfigurationRow, KnownConfiguration } from '../configurations.js';
import { MAX_STATEMENT } from '../documents.js';
import { HOUR_MS, WARNING_MS } from '../endpoint-health/health-bucket.js';
import { idOf, keyOf, tenantOf } from '../payments/event-store.js';
import { endEpisode, factsOf, markReported } from './episode.js';
import type { EndpointEpisodes } from './episode.js';
import { changeEpisodes, findOpen } from './episode-store.js';
import type { EpisodeRow } from './episode-store.js';
import { sendAlerts } from './send-alerts.js';
import type { AlertPorts } from './send-alerts.js';

/**
 * Compares the open episode with the configuration: an episode ends when its webhook is disabled, or has another address
 * than at the first review. Failures of a disabled webhook that were still under way begin no other.
 */
export function compareWith(
  state: EndpointEpisodes,
  configuration: Pick<KnownConfiguration, 'enabled' | 'updatedAt' | 'endpointUrl'>,
  failingAfterMs: number,
): EndpointEpisodes {
  const { enabled, updatedAt, endpointUrl } = configuration;
  const { current } = state;
  if (!current || (enabled && current.endpointUrl === endpointUrl)) return state;
  if (enabled && current.endpointUrl === undefined) return { ...state, current: { ...current, endpointUrl } };
  const at = Math.max(Date.parse(updatedAt), enabled ? current.first.at : current.last.at);
  return endEpisode(state, { at, ended: 'changed' }, failingAfterMs);
}

async function endChanged(rows: readonly EpisodeRow[], ports: AlertPorts): Promise<void> {
  const compare = (row: EpisodeRow): EndpointEpisodes => {
    const configuration = ports.configurations.known(tenantOf(row._id), idOf(row._id));
    return configuration ? compareWith(row, configuration, ports.failingAfterMs) : row;
  };
  const changed = rows.filter((row) => compare(row) !== row);
  await changeEpisodes(ports.database, new Map(changed.map((row) => [row._id, row])), compare);
}

/**
 * Reviews one page of the open documents: ends the episodes of changed webhooks, and sends the alerts that are due. Returns
 * the place after which the next page begins. Before a tenant's alerts are sent, `move` is called with the place behind its
 * documents: after a fault the next page begins there. It waits for the newest attempts first: an unread success would look
 * like none.
 */
export async function reviewPage(
  after: string,
  ports: AlertPorts,
  move: (place: string) => void,
): Promise<string> {
  const { database, configurations, catchUp, failingAfterMs } = ports;
  if ((await findOpen(database, after)).length === 0) return '';
  const [result] = await Promise.all([catchUp(), configurations.upToDate()]);
  if (result !== 'passed') throw new AppError('unavailable', 'the newest attempts are not read yet');
  const page = await findOpen(database, after);
  const rows = page.filter((row) => 'past' in row);
  await endChanged(rows, ports);
  const now = ports.now();
  const due = rows.filter((row) => factsOf(row, now, failingAfterMs).length > 0).map(({ _id }) => _id);
  const isReceiver = (tenantId: string) => configurations.alertEndpointsOf(tenantId).length > 0;
  const receivers = new Set([...new Set(due.map(tenantOf))].filter(isReceiver));
  // Never about an alert endpoint.
  const isAlerted = (id: string): boolean =>
    receivers.has(tenantOf(id)) && !configurations.known(tenantOf(id), idOf(id))?.alert;
  const others = due.filter((id) => !isAlerted(id)).map((id) => [id, now] as const);
  await changeEpisodes(database, new Map(others), (row, at) =>
    markReported(row, factsOf(row, at, failingAfterMs)),
  );
  const alerted = new Set(due.filter(isAlerted));
  const sending = page.filter((row) => 'tasks' in row || alerted.has(row._id));
  for (const [tenantId, own] of Map.groupBy(sending, ({ _id }) => tenantOf(_id))) {
    // Behind all of the tenant's documents: `0` follows `/`.
    move(`${tenantId}0`);
    await sendAlerts(
      tenantId,
      own.map(({ _id }) => _id).filter((id) => alerted.has(id)),
      ports,
    );
  }
  return (page.length === MAX_STATEMENT && page.at(-1)?._id) || '';
}

/** Returns when the certificate of an enabled webhook ends; NaN when there is none. */
const certificateEndOf = ({ enabled, alert, policy }: ConfigurationRow): number =>
  enabled && !alert ? Date.parse(policy?.certificateNotAfter ?? '') : Number.NaN;

/** Notes the client certificates that end soon, of tenants that have alert endpoints. */
export async function noteCertificates({ database, configurations, now }: AlertPorts): Promise<void> {
  await configurations.upToDate();
  const ends = new Map<string, number>();
  for (const row of configurations.all()) {
    const notAfter = certificateEndOf(row);
    const isSoon = notAfter > now() && notAfter < now() + WARNING_MS;
    if (isSoon && configurations.alertEndpointsOf(row.tenantId).length > 0)
      ends.set(keyOf(row.tenantId, row.ref), notAfter);
  }
  await changeEpisodes(database, ends, (row, certificateNotAfter) => ({ ...row, certificateNotAfter }));
}

/** From one page to the next: of 500 open episodes each is reviewed within a second, of 10,000 within 20. */
const REVIEW_MS = 1_000;

/** Reviews the open episodes of all tenants, page by page, until the service closes. */
export function reviewEpisodes(options: Omit<AlertPorts, 'now'>, scope: ServiceScope): void {
  const ports = { ...options, now: () => Date.now() };
  let after = '';
  const work = async (): Promise<void> => {
    after = await reviewPage(after, ports, (place) => (after = place));
  };
  repeatUntilClose({ name: 'reviewing episodes', everyMs: REVIEW_MS, work }, scope);
  const note = () => noteCertificates(ports);
  repeatUntilClose({ name: 'noting certificates', everyMs: HOUR_MS, work: note }, scope);
}
