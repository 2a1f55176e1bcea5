import { on } from 'node:events';
import { readFileSync } from 'node:fs';
import { plannedStatus, startCostlyHost, startEndpoint, toReply } from '@webhooks/testkit';
import type { Arrival, Reply } from '@webhooks/testkit';
import type { Receipt } from '@webhooks/testkit/account';
import { monotonicMicros } from '../measure.js';
import { REPORT_EVERY_MS } from './processes.js';
import type { ReceiverCommand, ReceiverPlan, ReceiverReport } from './processes.js';

// Runs the receiver as a separate process: one testkit endpoint at each port, for any path. Messages set the reply at a path.

const { certFile, keyFile, ports, cost } = JSON.parse(process.argv[2] ?? '') as ReceiverPlan;
const report = (message: ReceiverReport): void => void process.send?.(message);
const replies = new Map<string, Reply>();
let receipts: Receipt[] = [];

function reply({ path, id }: Arrival): Reply {
  const chosen = replies.get(path) ?? toReply(200);
  receipts.push({ id, path, status: plannedStatus(chosen), receivedAt: monotonicMicros() });
  return chosen;
}

const [certPem, keyPem] = [readFileSync(certFile, 'utf8'), readFileSync(keyFile, 'utf8')];
const settings = { certPem, keyPem, reply, remember: 0, keepAliveTimeoutMs: 0 };
const start = () => (cost === undefined ? startEndpoint(settings) : startCostlyHost(cost, settings));
const endpoints = await Promise.all(Array.from({ length: ports }, start));
process.once('disconnect', () => process.exit(0));
setInterval(() => {
  if (receipts.length === 0) return;
  report({ kind: 'received', receipts });
  receipts = [];
  // Otherwise an endpoint's counts of ids would grow without bound.
  for (const endpoint of endpoints) if ('forget' in endpoint) endpoint.forget();
}, REPORT_EVERY_MS);
report({ kind: 'listening', origins: endpoints.map(({ origin }) => origin) });
for await (const [[path, chosen]] of on(process, 'message') as AsyncIterable<[ReceiverCommand]>)
  replies.set(path, chosen);
