import { eventually, TokenDesk, makeSigningKey } from '@webhooks/testkit';
import { openVerifier, verdictOf } from '../support/verdict.js';

describe('the key set', () => {
  it('is kept while the issuer is away, and its last good keys stay in use', async () => {
    const other = await TokenDesk.open();
    const failures: unknown[] = [];
    const by = openVerifier(other, {
      refreshMs: 20,
      onRefreshFailed: (error: unknown) => failures.push(error),
    });
    await eventually(() => by.isReady());
    for (const response of [500, 200, []]) {
      other.response = response;
      const count = failures.length;
      await eventually(() => failures.length > count + 1);
    }
    expect(await verdictOf(by, `Bearer ${await other.token()}`)).toBe('ok');
    const token = await other.token();
    await other.close();
    const count = failures.length;
    await eventually(() => failures.length > count + 1);
    expect(await verdictOf(by, `Bearer ${token}`)).toBe('ok');
    by.close();
  });

  it('gets a new key before anyone notices: a rotation refuses nobody', async () => {
    const other = await TokenDesk.open();
    const by = openVerifier(other, { refreshMs: 20 });
    await eventually(() => by.isReady());
    const next = await makeSigningKey('k2', 'ES256');
    other.response = [next.publicJwk, other.key.publicJwk];
    await eventually(
      async () => (await verdictOf(by, `Bearer ${await other.token({ key: next })}`)) === 'ok',
    );
    expect(await verdictOf(by, `Bearer ${await other.token()}`)).toBe('ok');
    // Which of the two keys is meant?
    const unnamed = await other.token({ header: { kid: undefined } });
    expect(await verdictOf(by, `Bearer ${unnamed}`)).toBe('invalid-token');
    const remembered = await other.token();
    expect(await verdictOf(by, `Bearer ${remembered}`)).toBe('ok');
    other.response = [next.publicJwk];
    await eventually(async () => (await verdictOf(by, `Bearer ${await other.token()}`)) === 'invalid-token');
    expect(await verdictOf(by, `Bearer ${remembered}`)).toBe('invalid-token');
    by.close();
    await other.close();
  });

  it('is fetched for a token of a new key, a second after it was fetched before', async () => {
    const other = await TokenDesk.open();
    const by = openVerifier(other);
    await eventually(() => by.isReady());
    const next = await makeSigningKey('k2', 'ES256');
    other.response = [next.publicJwk, other.key.publicJwk];
    const token = await other.token({ key: next });
    await eventually(async () => (await verdictOf(by, `Bearer ${token}`)) === 'ok', { timeoutMs: 3_000 });
    expect(other.requests).toBe(2);
    by.close();
    await other.close();
  });

  it.each([500, 404, 200])('that never came (status %d) is a 500, no fault of the caller', async (status) => {
    const other = await TokenDesk.open();
    other.response = status;
    const by = openVerifier(other);
    const fault: unknown = await by.verify(`Bearer ${await other.token()}`).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: 'keys-unavailable', headers: { 'retry-after': '5' } });
    expect(by.isReady()).toBe(false);
    expect(await verdictOf(by, undefined)).toBe('invalid-token');
    other.response = [other.key.publicJwk];
    await eventually(() => by.isReady(), { message: 'the keys are asked for without a request' });
    by.close();
    await other.close();
  });

  it('is not requested for each token with an unknown key while the issuer fails', async () => {
    const other = await TokenDesk.open();
    other.response = 500;
    const by = openVerifier(other);
    const next = await makeSigningKey('k2', 'ES256');
    const before = other.requests;
    for (let tokens = 0; tokens < 50; tokens += 1)
      expect(await verdictOf(by, `Bearer ${await other.token({ key: next })}`)).toBe('keys-unavailable');
    expect(other.requests - before).toBeLessThan(5);
    by.close();
    await other.close();
  });

  it.each([
    ['is empty', {}, []],
    ['is older than it may be while the issuer is away', { keysMaxAgeMs: 50, refreshMs: 20 }, 500],
  ])(
    'that %s refuses nobody: it is our fault, and the service is not ready',
    async (_what, options, response) => {
      const other = await TokenDesk.open();
      const by = openVerifier(other, options);
      await eventually(() => by.isReady());
      other.response = response;
      const empty = openVerifier(other);
      const verifier = Array.isArray(response) ? empty : by;
      await eventually(() => !verifier.isReady());
      expect(await verdictOf(verifier, `Bearer ${await other.token()}`)).toBe('keys-unavailable');
      expect(await verdictOf(verifier, 'Bearer a.b.c')).toBe('invalid-token');
      by.close();
      empty.close();
      await other.close();
    },
  );
});
