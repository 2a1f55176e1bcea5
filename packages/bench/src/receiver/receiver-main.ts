import { readFileSync } from 'node:fs';
import { Answerer } from './answerer.js';
import { openReceiptWriter } from './receipt-file.js';
import type { Receipt } from './receipt-file.js';
import { openReceivingPort } from './receiving-port.js';
import type { ReceiverCommand, ReceiverPlan, ReceiverReport } from './receiver-messages.js';

// A receiver as a process of its own, so that its time is nobody else's.
const COUNTS_EVERY_MS = 50;

const plan = JSON.parse(process.argv[2] ?? '') as ReceiverPlan;
const tell = (report: ReceiverReport): void => void process.send?.(report);

const writer = openReceiptWriter(plan.file);
const counts: Record<string, number> = {};
let arrivals = 0;
let changed = false;

const answerer = new Answerer((receipt: Receipt) => {
  arrivals += 1;
  if (receipt.status >= 200 && receipt.status <= 299) {
    counts[receipt.path] = (counts[receipt.path] ?? 0) + 1;
    changed = true;
  }
  if (arrivals !== plan.dropReceipt) writer.append(receipt);
});

const credentials = { cert: readFileSync(plan.certFile), key: readFileSync(plan.keyFile) };
const doors = await Promise.all(
  Array.from({ length: plan.ports }, () =>
    openReceivingPort(credentials, (request, socket) => answerer.answer(request, socket)),
  ),
);

async function obey(command: ReceiverCommand): Promise<void> {
  if (command.kind === 'behave') answerer.behave(command.path, command.behaviour);
  else if (command.kind === 'flush') {
    await writer.flush();
    tell({ kind: 'counts', counts });
    tell({ kind: 'flushed' });
  } else {
    const door = doors.find(({ port }) => port === command.port);
    await (command.kind === 'shut' ? door?.shut() : door?.reopen());
    tell({ kind: 'done' });
  }
}

process.on('message', (command: ReceiverCommand) => {
  obey(command).catch((error: unknown) => {
    throw error;
  });
});
process.once('disconnect', () => process.exit(0));
setInterval(() => {
  if (!changed) return;
  changed = false;
  tell({ kind: 'counts', counts });
}, COUNTS_EVERY_MS);
tell({ kind: 'listening', ports: doors.map(({ port }) => port) });
