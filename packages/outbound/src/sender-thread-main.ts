import { parentPort, workerData } from 'node:worker_threads';
import { Sender } from './sender.js';
import type { PlainOptions } from './sender-settings.js';
import type { ThreadMessage, ThreadReply } from './sender-thread.js';

/** The entry point of the thread of costly tenants, which `SenderThread` starts. */
const sender = new Sender(workerData as PlainOptions);

const reply = (message: ThreadReply): void => parentPort?.postMessage(message);

parentPort?.on('message', (message: ThreadMessage) => {
  if ('present' in message) return sender.present(message.present);
  const { id, request } = message;
  sender.post({ ...request, body: Buffer.from(request.body.buffer) }).then(
    (result) => reply({ id, result }),
    (fault: unknown) => reply({ id, fault: fault instanceof Error ? fault.message : String(fault) }),
  );
});
