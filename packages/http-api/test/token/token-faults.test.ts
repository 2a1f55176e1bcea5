import { eventually, TokenDesk } from '@webhooks/testkit';
import type { TokenChange } from '@webhooks/testkit';
import type { TokenVerifier } from '../../src/index.js';
import { openVerifier } from '../support/verdict.js';

let desk: TokenDesk;
let verifier: TokenVerifier;

beforeAll(async () => {
  desk = await TokenDesk.open();
  verifier = openVerifier(desk);
  await eventually(() => verifier.isReady());
});
afterAll(async () => {
  verifier.close();
  await desk.close();
});

const now = (): number => Math.floor(Date.now() / 1_000);
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a refusal', () => {
  it.each<[string, TokenChange]>([
    ['it has expired', { claims: { exp: now() - 60, iat: now() - 120 } }],
    ['its audience is another one', { claims: { aud: 'other' } }],
    ['its issuer is another one', { claims: { iss: 'https://evil.example/' } }],
    ['its type is not allowed', { header: { typ: 'JWT' } }],
    ['it is not valid yet', { claims: { nbf: now() + 600 } }],
    ['it is not valid yet', { claims: { iat: now() + 60 } }],
    ['it is valid for longer than allowed', { claims: { exp: now() + 86_460 } }],
    ['the issuer has no such key', { header: { kid: 'unknown' } }],
    ['a required claim is missing or has another value', { claims: { jti: undefined } }],
  ])('says that %s, in detail and challenge', async (fault, change) => {
    const refusal: unknown = await verifier
      .verify(`Bearer ${await desk.token(change)}`)
      .catch((e: unknown) => e);
    expect(refusal).toMatchObject({
      message: `the access token is refused: ${fault}`,
      headers: {
        'www-authenticate': `Bearer realm="webhooks", error="invalid_token", error_description="${fault}"`,
      },
    });
  });

  it('says that the signature is wrong, or the algorithm not allowed', async () => {
    const [header, , signature] = (await desk.token()).split('.');
    const payload = encode({ ...desk.claims(), tenant_id: 'other' });
    const refusals = [
      `${header}.${payload}.${signature}`,
      `${encode({ alg: 'HS256', typ: 'at+jwt', kid: 'k1' })}.${payload}.AA`,
    ];
    const messages = await Promise.all(
      refusals.map((token) => verifier.verify(`Bearer ${token}`).catch((error: unknown) => String(error))),
    );
    expect(messages).toEqual([
      'AppError: the access token is refused: its signature is wrong',
      'AppError: the access token is refused: its algorithm is not allowed',
    ]);
  });
});
