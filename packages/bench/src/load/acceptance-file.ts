import { createReadStream, openSync, closeSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** One event that was acknowledged as durable (or, without a service, sent). Times are monotonic microseconds. */
export interface Acceptance {
  readonly id: string;
  readonly tenantId: string;
  /** When the schedule wanted it sent; in a run without a schedule: when it was sent. */
  readonly dueAt: number;
  readonly acknowledgedAt: number;
}

const LINES_AT_ONCE = 10_000;

/** Writes the file whole, after the run, so that writing costs the run nothing. */
export function writeAcceptances(file: string, acceptances: readonly Acceptance[]): void {
  const descriptor = openSync(file, 'w');
  for (let from = 0; from < acceptances.length; from += LINES_AT_ONCE) {
    const lines = acceptances
      .slice(from, from + LINES_AT_ONCE)
      .map(
        ({ id, tenantId, dueAt, acknowledgedAt }) =>
          `${id} ${tenantId} ${dueAt.toFixed(0)} ${acknowledgedAt.toFixed(0)}\n`,
      );
    writeSync(descriptor, lines.join(''));
  }
  closeSync(descriptor);
}

/** Throws for a line that is no acceptance. */
export async function readAcceptances(file: string): Promise<readonly Acceptance[]> {
  const acceptances: Acceptance[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const [id, tenantId, dueAt, acknowledgedAt, ...rest] = line.split(' ');
    if (id === undefined || tenantId === undefined || acknowledgedAt === undefined || rest.length > 0)
      throw new Error('a line of the generator is no acceptance');
    acceptances.push({ id, tenantId, dueAt: Number(dueAt), acknowledgedAt: Number(acknowledgedAt) });
  }
  return acceptances;
}
