import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '@webhooks/local';
import { startEndpoint } from '@webhooks/testkit';
import type { Arrival, Endpoint, EndpointOptions } from '@webhooks/testkit';
import { registerWebhooksForEvents } from '@webhooks/testkit/account';
import type { FeedLine, Hook } from '@webhooks/testkit/account';

/** Number of first attempts refused in a row: few enough that the breaker (10 failures in a row) stays closed. */
const REFUSED_IN_A_ROW = 2;

/** Shows one arrival, and the status of its response. */
type ShowArrival = (arrival: Arrival, status: number) => void;

/**
 * Starts a receiver that responds with 200, but below `/refuses-first/` with 503 to two of three first attempts. If it refused all of them,
 * the breaker would open and pause it for half a minute.
 */
export function startReceiver(options: EndpointOptions, show: ShowArrival): Promise<Endpoint> {
  let firstAttempts = 0;
  const reply = (arrival: Arrival): number => {
    const { path, headers } = arrival;
    const mayRefuse = path.startsWith('/refuses-first/') && headers['webhook-attempt'] === '1';
    if (mayRefuse) firstAttempts += 1;
    const status = mayRefuse && firstAttempts % (REFUSED_IN_A_ROW + 1) !== 0 ? 503 : 200;
    show(arrival, status);
    return status;
  };
  return startEndpoint({ ...options, remember: 1, reply });
}

/** A receiver that listens, its append-only file, and endpoints that are registered and in force. */
export interface DemoScenario {
  /** Called for each arrival; absent at first. */
  show?: ShowArrival;
  readonly receiver: Endpoint;
  readonly file: string;
  readonly hooks: readonly Hook[];
}

/** Starts the receiver at `port` (0: a free one), registers its endpoints and waits until they are in force. */
export async function prepareScenario(
  stack: Stack,
  lines: readonly FeedLine[],
  dataDir: string,
  port: number,
): Promise<DemoScenario> {
  const events = lines.flatMap(({ event }) => event ?? []);
  const file = join(dataDir, 'receipts.ndjson');
  writeFileSync(file, '');
  const { certPem, keyPem } = await stack.authority.issue(['localhost']);
  // What waits from an earlier run arrives before the webhooks are registered.
  const shown: Pick<DemoScenario, 'show'> = {};
  const show: ShowArrival = (arrival, status) => shown.show?.(arrival, status);
  const receiver = await startReceiver({ certPem, keyPem, file, port }, show);
  const hooks = await registerWebhooksForEvents(events, stack.description(), receiver.origin);
  return Object.assign(shown, { receiver, file, hooks });
}
