import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { print, untilSignal } from '@webhooks/testkit/account';
import { createArrivalLines } from '../watch.js';
import { startReceiver } from '../scenario.js';
import { FILES, required } from './environment.js';

// A receiver with its own name and certificate. It records each arrival, and prints those at paths that the demonstration did not register.

const show = createArrivalLines(print);
const endpoint = await startReceiver(
  {
    host: '0.0.0.0',
    port: Number(required('RECEIVER_PORT')),
    certPem: readFileSync(FILES.certificate, 'utf8'),
    keyPem: readFileSync(FILES.certificateKey, 'utf8'),
    file: FILES.receipts,
  },
  (arrival, status) => {
    if (!/^\/(hooks|refuses-first)\//.test(arrival.path)) show(arrival, status);
  },
);
print(`receiver: port ${endpoint.port}, arrivals in ${FILES.receipts}`);
await once(untilSignal(), 'abort');
await endpoint.close();
