import { IssuerError, ProblemError, createClient } from '../../src/index.js';
import type { Client, ClientCredentials } from '../../src/index.js';
import { LIST, ScriptedService } from '../support/scripted-service.js';

let service: ScriptedService;
let url: string;

beforeEach(async () => {
  service = await ScriptedService.open();
  ({ url } = service);
});
afterEach(() => service.close());

const client = (over: Partial<ClientCredentials> = {}): Client =>
  createClient({
    ...{ baseUrl: url, maxRetries: 1 },
    credentials: { tokenEndpoint: `${url}/token`, clientId: 'a b', clientSecret: 's:ä', ...over },
  });

const calls = (): string[] => service.requests.map(({ line }) => line);
const problemOf = (work: Promise<unknown>): Promise<ProblemError> =>
  work.then(
    () => Promise.reject(new Error('expected a problem')),
    (fault: unknown) => (fault instanceof ProblemError ? fault : Promise.reject(fault as Error)),
  );

describe('a token', () => {
  it('is requested once, by callers at the same time too, with credentials encoded as RFC 6749 §2.3.1 says', async () => {
    const own = client();
    await Promise.all([own.list(), own.list()]);
    await own.list();
    expect(calls().filter((line) => line === 'POST /token')).toHaveLength(1);
    expect(Buffer.from((service.requests[0]?.authorization ?? '').slice(6), 'base64').toString()).toBe(
      'a%20b:s%3A%C3%A4',
    );
    expect(service.requests.at(-1)?.authorization).toBe('Bearer token-1');
  });

  it('is requested with further fields, and with id and secret in the form for an issuer that wants that', async () => {
    const audience = 'https://pix.example.com';
    await client({ parameters: { audience, scope: 'none' }, scope: 'x y' }).token();
    await client({ clientAuthentication: 'client_secret_post' }).token();
    const form = { grant_type: 'client_credentials' };
    expect(service.requests.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
      { ...form, audience, scope: 'x y' },
      { ...form, client_id: 'a b', client_secret: 's:ä' },
    ]);
    expect(service.requests.map(({ authorization }) => authorization.slice(0, 6))).toEqual(['Basic ', '']);
  });

  it.each([401, 429, 500])(
    'that the issuer refuses with %d becomes an error of the issuer',
    async (status) => {
      const refusal = { error: 'access_denied', error_description: 'no such audience' };
      service.tokenResponse = { status, body: refusal };
      const error = await problemOf(client().list());
      expect(error).toBeInstanceOf(IssuerError);
      expect(error).toMatchObject({ code: 'access_denied', status, problem: { detail: 'no such audience' } });
      expect(error.message).toBe(
        `the token issuer ${url} responded with an error: ${status} access_denied: no such audience`,
      );
      expect(calls()).toEqual(Array.from({ length: status === 401 ? 1 : 2 }, () => 'POST /token'));
    },
  );

  it('is renewed once when the service does not take it any more', async () => {
    const own = client();
    await own.list();
    service.script = [{ status: 401 }];
    expect(await own.list()).toEqual(LIST);
    expect(service.requests.at(-1)?.authorization).not.toBe(service.requests[1]?.authorization);
    service.script = [{ status: 401 }, { status: 401, body: { code: 'invalid-token' } }];
    expect(await problemOf(own.redeliver('d'))).toMatchObject({ code: 'invalid-token', status: 401 });
    expect(calls().filter((line) => line === 'POST /token')).toHaveLength(3);
  });
});
