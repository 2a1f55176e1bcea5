import { misbehave } from '../world/misbehave.js';
import type { Answer } from '@webhooks/testkit';

const WRONG: readonly Answer[] = [
  { kind: 'status', status: 302, headers: { location: 'https://localhost/elsewhere' } },
  { kind: 'status', status: 404, body: 'no such path' },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 429, headers: { 'retry-after': '99999999' } },
  { kind: 'raw', bytes: 'this is not HTTP\r\n\r\n', then: 'end' },
  { kind: 'drip-headers', everyMs: 200 },
  { kind: 'informational', count: 3 },
  { kind: 'endless-body' },
];

/** Everything but a plain 2xx, in turn. */
const receiverAnswersWrongly = misbehave({ name: 'receiver-answers-wrongly' }, () => ({
  answer: ({ index }) => WRONG[index % WRONG.length] ?? 500,
}));

export default receiverAnswersWrongly;
