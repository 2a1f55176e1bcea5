import { readFileSync } from 'node:fs';
import { plannedStatus, startEndpoint, toAnswer } from '@webhooks/testkit';
import type { Answer, Arrival, Endpoint } from '@webhooks/testkit';
import { monotonicMicros } from '../measure/clock.js';
import type { Receipt } from '../measure/run-ledger.js';
import type { ReceiverCommand, ReceiverPlan, ReceiverReport } from './receiver.js';

// The receiver as a process of its own: endpoints of testkit at some ports, any path, an answer for each path.

/** Receipts are reported together: one message for some hundred arrivals. */
const REPORT_EVERY_MS = 50;

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
const listen = (port: number): Promise<Endpoint> =>
  startEndpoint({ certPem, keyPem, port, answer, remember: 0, keepAliveTimeoutMs: 0 });
const endpoints = new Map<number, Endpoint>();
for (let index = 0; index < plan.ports; index += 1) {
  const endpoint = await listen(0);
  endpoints.set(endpoint.port, endpoint);
}

async function obey(command: ReceiverCommand): Promise<void> {
  if (command.kind === 'answer') answers.set(command.path, command.answer);
  else if (command.kind === 'shut') await endpoints.get(command.port)?.close();
  else endpoints.set(command.port, await listen(command.port));
}

process.on('message', (command: ReceiverCommand) => {
  obey(command).catch((error: unknown) => {
    throw error;
  });
});
process.once('disconnect', () => process.exit(0));
setInterval(() => {
  if (receipts.length === 0) return;
  report({ kind: 'received', receipts });
  receipts = [];
  // What an endpoint remembers of ids would grow for ever.
  for (const endpoint of endpoints.values()) endpoint.forget();
}, REPORT_EVERY_MS);
report({ kind: 'listening', ports: [...endpoints.keys()] });
