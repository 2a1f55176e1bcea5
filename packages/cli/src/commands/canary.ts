import { createNotificationMiddleware, type NotificationRequest } from '@webhooks/client';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { Argv } from 'yargs';
import { secretOf } from '../arguments.js';
import { trackPayments, type Tracker } from '../track-payments.js';
import { makeTestEvent } from '../events.js';
import { usage } from '../failure.js';
import { dim, paint } from '../output.js';
import { ENDING_CANARY, online, POLL_MS, untilServed, type Session } from '../session.js';
import { localTime } from '../times.js';

/** Half of what a leg may take before it counts as missing. */
const CALL = { timeoutMs: 5_000 } as const;
/** A worker's clock may be up to ten minutes behind ours, and deliveries are listed by its time. */
const CLOCKS_MS = 600_000;

const timeText = (): string => dim(localTime(new Date()));

/** Posts a payment every `everyMs`. During an outage it posts the one again, and begins no other. */
async function post({ client, note }: Session, tracker: Tracker, everyMs: number): Promise<never> {
  for (;;) {
    const next = delay(everyMs);
    const event = makeTestEvent('PIX_STATIC');
    tracker.begin(event.id);
    await untilServed(() => client.postEvent(event, CALL), note, ENDING_CANARY);
    tracker.reach(event.id, 'accepted');
    await next;
  }
}

/** Requests the delivered payments that query-api has not shown yet: one list for all, and none while there is none. */
async function query({ client, note }: Session, tracker: Tracker): Promise<never> {
  const list = async (): Promise<void> => {
    const age = tracker.unqueriedMs();
    if (age === 0) return;
    const from = new Date(Date.now() - age - CLOCKS_MS).toISOString();
    const filter = { eventType: 'PIX_STATIC', status: 'delivered', from, limit: 200 } as const;
    for await (const { eventId } of client.eachDelivery(filter, CALL)) tracker.reach(eventId, 'queryable');
  };
  for (;;) {
    await untilServed(list, note, ENDING_CANARY);
    await delay(POLL_MS);
  }
}

/** Shows each leg that begins to be missing, and each that works again. Apart from the calls, which may hang. */
async function report({ show }: Session, tracker: Tracker): Promise<never> {
  for (;;) {
    for (const { leg, isMissing } of tracker.changes()) {
      const state = isMissing ? 'missing' : 'ok';
      show({ at: new Date().toISOString(), leg, state }, `${timeText()} ${leg}: ${paint(state)}`);
    }
    await delay(POLL_MS);
  }
}

/** Takes deliveries. A request that is not signed with the secret gets 400, and its payment stays missing. */
function receiver(secret: string, tracker: Tracker): RequestListener {
  const verify = createNotificationMiddleware({ secrets: secret });
  return (request: NotificationRequest & Parameters<RequestListener>[0], response) => {
    verify(request, response, (error) => {
      if (request.notification) tracker.reach(request.notification.id, 'delivered');
      response.writeHead(error === undefined ? 204 : 400).end();
    });
  };
}

const exporter =
  (registry: Registry): RequestListener =>
  async ({ url }, response) => {
    if (url !== '/metrics') return response.writeHead(404).end();
    return response.setHeader('content-type', registry.contentType).end(await registry.metrics());
  };

/** As the APIs: longer than a proxy keeps an idle connection (60 s), which would else use one that is just being closed. */
const KEEP_ALIVE_MS = 65_000;

const TIMES = { requestTimeout: 5_000, keepAliveTimeout: KEEP_ALIVE_MS } as const;

/** Rejects when the port is in use. */
const listen = (port: number, handle: RequestListener): Promise<unknown> =>
  once(createServer(TIMES, handle).listen(port), 'listening');

const OPTIONS = {
  every: { type: 'number', default: 5, describe: 'Seconds between two payments' },
  port: { type: 'number', default: 8085, describe: 'Takes deliveries, over HTTP: put TLS before it' },
  'metrics-port': { type: 'number', default: 9090, describe: 'Serves /metrics; must not be public' },
} as const;
type Arguments = { readonly every: number; readonly port: number; readonly metricsPort: number };

async function canary(session: Session, { every, port, metricsPort }: Arguments): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit());
  const { secret } = session.profile;
  if (!secret) throw usage('a canary needs the signing secret of its webhook', 'set WEBHOOKS_SECRET');
  const timed = { ...session, note: (text: string) => session.note(`${timeText()} ${text}`) };
  const registry = new Registry();
  const tracker = trackPayments(registry);
  await listen(port, receiver(secretOf(secret), tracker));
  await listen(metricsPort, exporter(registry));
  session.show({ port, metricsPort }, `Deliveries on port ${port}, /metrics on port ${metricsPort}`);
  await Promise.all([post(timed, tracker, every * 1_000), query(timed, tracker), report(session, tracker)]);
}

export const addCanary = (cli: Argv): Argv =>
  cli.command(
    'canary',
    'Send a test payment every few seconds along the whole way, and export metrics',
    (own) => own.options(OPTIONS),
    online(canary),
  );
