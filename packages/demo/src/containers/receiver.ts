import { readFileSync } from 'node:fs';
import { refuseFirst } from '@webhooks/ledger';
import { startEndpoint } from '@webhooks/testkit';
import type { Arrival } from '@webhooks/testkit';
import { FILES } from './folders.js';
import { required } from './required.js';
import { untilSignal } from './until-signal.js';

// A consumer's endpoint with a name and a certificate of its own. It writes down each arrival before it answers.

const isOfDemonstration = ({ path }: Arrival): boolean => /^\/(hooks|refuses-first)\//.test(path);

const answerOfRefusing = refuseFirst();

/** 200 at every path, but 503 to two of three first attempts below `/refuses-first/`. Arrivals at paths of yours are shown. */
function answer(arrival: Arrival): number {
  const { path, headers, body } = arrival;
  const attempt = headers['webhook-attempt'] ?? '?';
  if (!isOfDemonstration(arrival)) {
    process.stdout.write(`POST ${path} attempt ${attempt}: ${body.toString('utf8').slice(0, 200)}\n`);
  }
  return path.startsWith('/refuses-first/') ? answerOfRefusing(arrival) : 200;
}

const endpoint = await startEndpoint({
  host: '0.0.0.0',
  port: Number(required('RECEIVER_PORT')),
  certPem: readFileSync(FILES.certificate, 'utf8'),
  keyPem: readFileSync(FILES.certificateKey, 'utf8'),
  file: FILES.receipts,
  remember: 1,
  answer,
});
process.stdout.write(`receiver: port ${endpoint.port}, arrivals in ${FILES.receipts}\n`);
await untilSignal();
await endpoint.close();
