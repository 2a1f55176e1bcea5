import { on } from 'node:events';
import { readFileSync } from 'node:fs';
import { plannedStatus, startCostlyHost, startEndpoint, toReply } from '@webhooks/testkit';
import type { Reply, Arrival, CostlyHost, Endpoint } from '@webhooks/testkit';
import type { Receipt } from '@webhooks/testkit/account';
import { monotonicMicros } from '../measure.js';
import { REPORT_EVERY_MS } from './receiver.js';
import type { ReceiverCommand, ReceiverPlan, ReceiverReport } from './receiver.js';

// The receiver as a process of its own: endpoints of testkit at some ports, any path, a reply for each path.

const plan = JSON.parse(process.argv[2] ?? '') as ReceiverPlan;
const report = (message: ReceiverReport): void => void process.send?.(message);
const replies = new Map<string, Reply>();
let receipts: Receipt[] = [];

function reply({ path, id }: Arrival): Reply {
  const chosen = replies.get(path) ?? toReply(200);
  receipts.push({ id, path, status: plannedStatus(chosen), receivedAt: monotonicMicros() });
  return chosen;
}

const [certPem, keyPem] = [readFileSync(plan.certFile, 'utf8'), readFileSync(plan.keyFile, 'utf8')];
const settings = { certPem, keyPem, reply, remember: 0, keepAliveTimeoutMs: 0 };
const start = (): Promise<Endpoint | CostlyHost> =>
  plan.cost === undefined ? startEndpoint(settings) : startCostlyHost(plan.cost, settings);
const endpoints: (Endpoint | CostlyHost)[] = [];
for (let index = 0; index < plan.ports; index += 1) endpoints.push(await start());
process.once('disconnect', () => process.exit(0));
setInterval(() => {
  if (receipts.length === 0) return;
  report({ kind: 'received', receipts });
  receipts = [];
  // What an endpoint remembers of ids would grow for ever.
  for (const endpoint of endpoints) if ('forget' in endpoint) endpoint.forget();
}, REPORT_EVERY_MS);
report({ kind: 'listening', origins: endpoints.map(({ origin }) => origin) });
for await (const [command] of on(process, 'message') as AsyncIterable<[ReceiverCommand]>)
  replies.set(command.path, command.reply);
