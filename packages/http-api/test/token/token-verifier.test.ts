import { createHmac, randomBytes } from 'node:crypto';
import { eventually, AUDIENCE, TokenDesk, makeSigningKey } from '@webhooks/testkit';
import type { SigningKey, TokenChange } from '@webhooks/testkit';
import { AppError } from '../../src/index.js';
import type { TokenVerifier } from '../../src/index.js';
import { openVerifier, verdictOf } from '../support/verdict.js';

let desk: TokenDesk;
let attacker: TokenDesk;
let verifier: TokenVerifier;

beforeAll(async () => {
  desk = await TokenDesk.open();
  attacker = await TokenDesk.open();
  verifier = openVerifier(desk);
  await eventually(() => verifier.isReady());
});
afterAll(async () => {
  verifier.close();
  await desk.close();
  await attacker.close();
});

const verdictOn = (authorization: string | undefined, by = verifier): Promise<string> =>
  verdictOf(by, authorization);
const verdict = async (change: TokenChange = {}): Promise<string> =>
  verdictOn(`Bearer ${await desk.token(change)}`);

const MALFORMED =
  'Bearer realm="webhooks", error="invalid_token", error_description="it is not one JWT after the word Bearer"';

const now = (): number => Math.floor(Date.now() / 1_000);
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const claim = (claims: TokenChange['claims']): Promise<string> => verdict({ claims: claims ?? {} });

describe('a valid token', () => {
  it('is accepted, and gives the client and its claims', async () => {
    const { clientId, tenant } = await verifier.verify(`Bearer ${await desk.token()}`);
    expect(clientId).toBe('client-1');
    expect(tenant).toBe('acme');
  });

  it.each(['bearer', 'BEARER', 'BeArEr'])('may call its scheme %s', async (scheme) => {
    expect(await verdictOn(`${scheme} ${await desk.token()}`)).toBe('ok');
  });

  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('may be signed with %s', async (alg) => {
    const other = await TokenDesk.open(alg);
    const by = openVerifier(other);
    expect(await verdictOn(`Bearer ${await other.token()}`, by)).toBe('ok');
    by.close();
    await other.close();
  });

  it.each([
    ['application/at+jwt as its type', { header: { typ: 'application/at+jwt' } }],
    ['several audiences, ours among them', { claims: { aud: ['other', AUDIENCE] } }],
    ['a claim called __proto__', { claims: { ['__proto__']: { tenant_id: 'evil' } } }],
    ['no scope, which is another check’s matter', { claims: { scope: undefined } }],
  ])('may have %s', async (_name, change) => {
    expect(await verdict(change)).toBe('ok');
  });

  it('is remembered until it expires', async () => {
    const token = await desk.token({ claims: { exp: now() - 3 } });
    const first = await verifier.verify(`Bearer ${token}`);
    expect(await verifier.verify(`Bearer ${token}`)).toBe(first);
    await eventually(async () => (await verdictOn(`Bearer ${token}`)) === 'invalid-token');
  });

  it('may have expired three seconds ago, but not ten, because clocks differ', async () => {
    expect(await claim({ exp: now() - 3 })).toBe('ok');
    expect(await claim({ exp: now() - 10 })).toBe('invalid-token');
  });
});

describe('what is no bearer token', () => {
  it.each([
    ['nothing', undefined, 'Bearer realm="webhooks"'],
    ['an empty header', '', MALFORMED],
    ['the scheme alone', 'Bearer', MALFORMED],
    ['Basic', 'Basic YTpi', MALFORMED],
  ])('is refused with a challenge: %s', async (_name, header, challenge) => {
    const fault: unknown = await verifier.verify(header).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(AppError);
    expect(fault).toMatchObject({ code: 'invalid-token', headers: { 'www-authenticate': challenge } });
  });

  it('is refused when a valid token is only part of it', async () => {
    const token = await desk.token();
    const headers = [
      token,
      `Bearer${token}`,
      `Bearer ${token} ${token}`,
      `Bearer ${token},`,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer "${token}"`,
      `Bearer ${token}\n`,
      `Token ${token}`,
      `DPoP ${token}`,
    ];
    for (const header of headers) expect(await verdictOn(header)).toBe('invalid-token');
  });

  it('is refused over 8 KiB before it is parsed', async () => {
    const token = await desk.token({ claims: { filler: 'a'.repeat(7_000) } });
    expect(token.length).toBeGreaterThan(8_192);
    expect(await verdictOn(`Bearer ${token}`)).toBe('invalid-token');
    expect(await verdictOn(`Bearer ${'a'.repeat(1_048_576)}.b.c`)).toBe('invalid-token');
  });
});

describe('a token with a wrong signature', () => {
  const forged = async (header: object, sign: (input: string) => string = () => ''): Promise<string> => {
    const input = `${encode({ typ: 'at+jwt', kid: 'k1', ...header })}.${encode(desk.claims())}`;
    return verdictOn(`Bearer ${input}.${sign(input)}`);
  };

  it.each(['none', 'NONE', 'nOnE', ''])('is refused with the algorithm "%s"', async (alg) => {
    expect(await forged({ alg })).toBe('invalid-token');
    expect(await forged({ alg }, () => 'AA')).toBe('invalid-token');
  });

  it('is refused with an HMAC under an empty key, or under our public key', async () => {
    const hmac = (key: string) => (input: string) =>
      createHmac('sha256', key).update(input).digest('base64url');
    expect(await forged({ alg: 'HS256' }, hmac(''))).toBe('invalid-token');
    expect(await forged({ alg: 'HS256' }, hmac(JSON.stringify(desk.key.publicJwk)))).toBe('invalid-token');
  });

  it.each(['es256', 'ES384', 'RS512', 'RSA1_5'])(
    'is refused with %s, which is not on the list',
    async (alg) => {
      expect(await forged({ alg }, () => randomBytes(64).toString('base64url'))).toBe('invalid-token');
    },
  );

  it('is refused when the signature is all zeros, missing, changed in one bit or cut', async () => {
    expect(await forged({ alg: 'ES256' }, () => Buffer.alloc(64).toString('base64url'))).toBe(
      'invalid-token',
    );
    const [header, payload, signature] = (await desk.token()).split('.');
    const bytes = Buffer.from(signature ?? '', 'base64url');
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    for (const wrong of ['', bytes.toString('base64url'), signature?.slice(0, -4) ?? ''])
      expect(await verdictOn(`Bearer ${header}.${payload}.${wrong}`)).toBe('invalid-token');
  });

  it('is refused when the claims were changed after signing', async () => {
    const [header, , signature] = (await desk.token()).split('.');
    const payload = encode({ ...desk.claims(), tenant_id: 'other' });
    expect(await verdictOn(`Bearer ${header}.${payload}.${signature}`)).toBe('invalid-token');
  });

  it('is refused in standard base64', async () => {
    const standard = (await desk.token())
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString('base64'));
    expect(await verdictOn(`Bearer ${standard.join('.')}`)).toBe('invalid-token');
  });

  it('is refused with a payload that is no object', async () => {
    for (const payload of ['[]', '"x"', 'nonsense']) {
      const input = `${encode({ alg: 'ES256', typ: 'at+jwt', kid: 'k1' })}.${Buffer.from(payload).toString('base64url')}`;
      expect(await verdictOn(`Bearer ${input}.AAAA`)).toBe('invalid-token');
    }
  });
});

describe('a token of a key that is not the issuer’s', () => {
  it.each(['jwk', 'jku', 'x5u', 'x5c'])('is refused, and its header %s is not followed', async (name) => {
    const value = {
      jwk: attacker.key.publicJwk,
      jku: `${attacker.issuer}jwks`,
      x5u: `${attacker.issuer}cert`,
      x5c: ['MIIB'],
    }[name];
    const before = attacker.requests;
    const change = { header: { [name]: value }, key: attacker.key };
    expect(await verdict(change)).toBe('invalid-token');
    expect(attacker.requests).toBe(before);
  });

  it('needs no kid while the set has one key of its algorithm', async () => {
    expect(await verdict({ header: { kid: undefined } })).toBe('ok');
  });

  it('is refused with an unknown kid, and with the kid of a key of another kind', async () => {
    expect(await verdict({ header: { kid: '../../etc/passwd' } })).toBe('invalid-token');
    const rsa: SigningKey = { ...(await makeSigningKey('k1', 'RS256')) };
    expect(await verdict({ key: rsa })).toBe('invalid-token');
  });

  it('causes at most one request for twenty unknown kids', async () => {
    const before = desk.requests;
    for (let index = 0; index < 20; index += 1)
      expect(await verdict({ header: { kid: `unknown-${index}` } })).toBe('invalid-token');
    expect(desk.requests - before).toBeLessThanOrEqual(1);
  });
});

describe('a token whose header is wrong', () => {
  it.each([['JWT'], [undefined], ['at+JWT '], ['id+jwt']])('is refused with the type %p', async (typ) => {
    expect(await verdict({ header: { typ } })).toBe('invalid-token');
  });

  it('is refused with critical extensions', async () => {
    const input = `${encode({ alg: 'ES256', typ: 'at+jwt', kid: 'k1', b64: false, crit: ['b64'] })}.${encode(desk.claims())}`;
    expect(await verdictOn(`Bearer ${input}.AAAA`)).toBe('invalid-token');
  });
});

describe('a token whose claims are wrong', () => {
  it.each(['exp', 'iat', 'sub', 'client_id', 'jti', 'iss', 'aud'])('is refused without %s', async (name) => {
    expect(await claim({ [name]: undefined })).toBe('invalid-token');
  });

  it.each([
    ['an end that is a text', () => ({ exp: String(now() + 60) })],
    ['an end that is no safe integer', () => ({ exp: 1e300 })],
    ['an end in the year 2100', () => ({ exp: 4_102_444_800 })],
    ['a lifetime over 24 h', () => ({ exp: now() + 86_401 })],
    ['a begin in the future', () => ({ iat: now() + 60 })],
    ['a begin that is a text', () => ({ iat: 'now' })],
    ['a validity that has not begun', () => ({ nbf: now() + 600 })],
    ['another issuer', () => ({ iss: 'https://evil.example/' })],
    ['the issuer without its slash', () => ({ iss: desk.issuer.slice(0, -1) })],
    ['a list of issuers', () => ({ iss: [desk.issuer] })],
    ['another audience', () => ({ aud: 'other' })],
    ['a client that is no text', () => ({ client_id: 7 })],
  ])('is refused with %s', async (_name, claims) => {
    expect(await claim(claims())).toBe('invalid-token');
  });

  it('is accepted with times that have a fraction', async () => {
    expect(await claim({ iat: now() - 0.25, exp: now() + 60.5 })).toBe('ok');
  });

  it('is accepted with a lifetime of exactly 24 h', async () => {
    const iat = now();
    expect(await claim({ iat, exp: iat + 86_400 })).toBe('ok');
  });
});
