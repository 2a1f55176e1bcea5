import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { ArrivalLine } from '@webhooks/testkit';
import { planConfigurations } from '../world/configurations.js';
import type { Arrived } from './evidence.js';

/** Paths whose signatures are verified; of the others, bodies are not kept. */
const SIGNED: ReadonlySet<string> = new Set(
  planConfigurations().flatMap(({ treatment, path }) => (treatment === 'signed' ? [path] : [])),
);

function toArrived(line: ArrivalLine): Arrived {
  const { id, path, status, receivedAt, headers, body } = line;
  const signature = headers['webhook-signature'];
  return {
    id,
    path,
    status,
    receivedAt,
    attempt: Number(headers['webhook-attempt']),
    startedAtSeconds: Number(headers['webhook-timestamp']),
    digest: createHash('sha256').update(body).digest('hex'),
    ...(signature !== undefined && SIGNED.has(path) ? { signed: { signature, body } } : {}),
  };
}

/** Reads the receivers' append-only file, line by line. Throws for a line that is no arrival. */
export async function readArrivals(file: string): Promise<readonly Arrived[]> {
  const arrivals: Arrived[] = [];
  for await (const line of createInterface({ input: createReadStream(file) }))
    arrivals.push(toArrived(JSON.parse(line) as ArrivalLine));
  return arrivals;
}
