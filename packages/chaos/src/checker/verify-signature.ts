import { createHmac } from 'node:crypto';
import type { Arrived } from '../evidence/evidence.js';

/** Whether one of the signatures verifies by this secret, as Standard Webhooks 1.0.0 says, written without our sender's code. */
export function verifySignature(
  { id, startedAtSeconds, signed }: Pick<Arrived, 'id' | 'startedAtSeconds' | 'signed'>,
  secret: string,
): boolean {
  if (!signed) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key)
    .update(`${id}.${startedAtSeconds}.${signed.body}`)
    .digest('base64');
  return signed.signature.split(' ').includes(`v1,${expected}`);
}
