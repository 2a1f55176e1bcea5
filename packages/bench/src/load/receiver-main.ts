import { on } from 'node:events';
import { readFileSync } from 'node:fs';
import { plannedStatus, startEndpoint, toAnswer } from '@webhooks/testkit';
import type { Answer, Arrival, Endpoint } from '@webhooks/testkit';
import { monotonicMicros } from '../measure/clock.js';
import type { Receipt } from '../measure/run-ledger.js';
import { REPORT_EVERY_MS } from './receiver.js';
import type { ReceiverCommand, ReceiverPlan, ReceiverReport } from './receiver.js';

// The receiver as a process of its own: endpoints of testkit at some ports, any path, an answer for each path.

const plan = JSON.parse(process.argv[2] ?? '') as ReceiverPlan;
const report = (message: ReceiverReport): void => void process.send?.(message);
const answers = new Map<string, Answer>();
let receipts: Receipt[] = [];

function answer({ path, id }: Arrival): Answer {
  const chosen = answers.get(path) ?? toAnswer(200);
  receipts.push({ id, path, status: plannedStatus(chosen), arrivedAt: monotonicMicros() });
  return chosen;
}

const [certPem, keyPem] = [readFileSync(plan.certFile, 'utf8'), readFileSync(plan.keyFile, 'utf8')];
const endpoints = new Map<string, Endpoint>();

async function listen(port: number): Promise<void> {
  const settings = { certPem, keyPem, port, answer, remember: 0, keepAliveTimeoutMs: 0 };
  const endpoint = await startEndpoint(settings);
  endpoints.set(endpoint.origin, endpoint);
}

for (let index = 0; index < plan.ports; index += 1) await listen(0);
process.once('disconnect', () => process.exit(0));
setInterval(() => {
  if (receipts.length === 0) return;
  report({ kind: 'received', receipts });
  receipts = [];
  // What an endpoint remembers of ids would grow for ever.
  for (const endpoint of endpoints.values()) endpoint.forget();
}, REPORT_EVERY_MS);
report({ kind: 'listening', origins: [...endpoints.keys()] });
for await (const [command] of on(process, 'message') as AsyncIterable<[ReceiverCommand]>)
  if (command.kind === 'answer') answers.set(command.path, command.answer);
  else if (command.kind === 'shut') await endpoints.get(command.origin)?.close();
  else await listen(Number(new URL(command.origin).port));
