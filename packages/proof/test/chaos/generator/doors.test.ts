import { ConnectionError, ProblemError } from '@webhooks/client';
import type { EventResult } from '@webhooks/client';
import { PROBLEMS } from '@webhooks/contracts';
import type { ProblemCode } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';
import { giveIngest, isServiceAway } from '../../../src/chaos/generator/doors.js';

const [first, second] = [buildEvent(), buildEvent()];
const lost = new ConnectionError({ method: 'POST', origin: 'http://localhost' }, new Error('reset'));
const problem = (code: ProblemCode) => {
  const { status, title } = PROBLEMS[code];
  return new ProblemError({ type: '', title, status, code, detail: '', violations: [], members: {} });
};

const give = (answer: () => Promise<readonly EventResult[]>) =>
  giveIngest({ postEvents: answer })([first, second]);
const refused = (error: Error) => give(() => Promise.reject(error));
const answered = (...statuses: EventResult['status'][]) =>
  give(() => Promise.resolve(statuses.map((status, index) => ({ index, status }))));

describe('the door ingest', () => {
  it('promises what was accepted, and nothing of what is unavailable', async () => {
    expect(await answered('accepted', 'accepted')).toEqual([first, second]);
    expect(await answered('unavailable', 'accepted')).toEqual([second]);
  });

  it.each([
    lost,
    ...(['unavailable', 'database-unavailable', 'keys-unavailable', 'too-many-requests'] as const).map(
      problem,
    ),
  ])('promises nothing when the service is away, or has no room: %s', async (error) => {
    expect(await refused(error)).toEqual([]);
  });

  it.each(
    (['internal-error', 'invalid-request', 'invalid-token', 'insufficient-scope', 'not-found'] as const).map(
      problem,
    ),
  )('fails when valid events are answered otherwise: %s', async (error) => {
    await expect(refused(error)).rejects.toBe(error);
  });

  it('fails when one of them is refused, or not answered', async () => {
    await expect(answered('accepted', 'invalid')).rejects.toThrow(
      `answered invalid to the valid event ${second.id}`,
    );
    await expect(answered('forbidden-tenant', 'accepted')).rejects.toThrow('answered forbidden-tenant');
    await expect(answered('accepted')).rejects.toThrow('answered nothing');
  });
});

it.each<[string, unknown, boolean]>([
  ['no response', lost, true],
  ['503', problem('unavailable'), true],
  ['500 without the database', problem('database-unavailable'), true],
  ['500 for a bug', problem('internal-error'), false],
  ['422', problem('invalid-request'), false],
  ['anything else', new TypeError('not a function'), false],
])('a service that is away: %s', (_, error, expected) => {
  expect(isServiceAway(error)).toBe(expected);
});
