import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { testMongoUri } from '@webhooks/local';
import { checkMongo } from '@webhooks/mongodb';
import { eventually, openStrangeAuthority, randomName, sharedAuthority } from '@webhooks/testkit';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';

type Authority = Awaited<ReturnType<typeof sharedAuthority>>;
const HOST = '127.0.0.1';

/** TLS before the database of the tests, which speaks none. It demands client certificates of these authorities. */
async function startTls(first: Authority) {
  const open = new Map<TLSSocket, string>();
  const credentials = async (own: Authority, trusted: readonly Authority[]) => {
    const { certPem: cert, keyPem: key } = await own.issue([HOST]);
    return { cert, key, ca: trusted.map(({ caPem }) => caPem) };
  };
  const to = new URL(testMongoUri(randomName('tls')));
  const server = createServer(
    { requestCert: true, rejectUnauthorized: true, ...(await credentials(first, [first])) },
    (client) => {
      open.set(client, client.getPeerCertificate().serialNumber);
      const database = connect(Number(to.port), to.hostname);
      for (const socket of [client, database]) socket.on('error', () => undefined);
      client.pipe(database).pipe(client);
      client.once('close', () => {
        open.delete(client);
        database.destroy();
      });
    },
  );
  server.listen(0, HOST);
  await once(server, 'listening');
  const uriWith = (options: Readonly<Record<string, string>>): string => {
    const uri = new URL(to);
    uri.port = String((server.address() as AddressInfo).port);
    for (const [name, value] of Object.entries(options)) uri.searchParams.set(name, value);
    return uri.href;
  };
  return {
    uriWith,
    use: async (own: Authority, ...trusted: Authority[]) =>
      server.setSecureContext(await credentials(own, trusted)),
    /** The client certificates of all open connections, by serial number. */
    presented: () => [...new Set(open.values())],
    close: () => {
      server.close();
      for (const client of open.keys()) client.destroy();
    },
  };
}

const dir = mkdtempSync(join(tmpdir(), 'database-tls-'));
const files = { ca: join(dir, 'ca.pem'), client: join(dir, 'client.pem'), uri: join(dir, 'uri') };
const tlsOptions = { tls: 'true', tlsCAFile: files.ca, tlsCertificateKeyFile: files.client };

/** Writes a certificate of this authority and returns its serial number. */
async function presentOne(authority: Authority): Promise<string> {
  const { certPem, keyPem, certFile } = await authority.issue(['config-api'], {
    notAfter: new Date(2 ** 42),
  });
  writeFileSync(files.client, `${certPem}${keyPem}`);
  return certFile.replace(/^.*\/|\.pem$/g, '');
}

let database: Awaited<ReturnType<typeof startTls>>;
let before: Authority;
let after: Authority;

beforeAll(async () => {
  [before, after] = [await sharedAuthority(), await openStrangeAuthority()];
  database = await startTls(before);
  copyFileSync(before.caFile, files.ca);
  await presentOne(before);
});
afterAll(() => database.close());

it('certificates, authorities and the connection string are renewed under load, and no request fails', async () => {
  await makeTopics();
  const first = await presentOne(before);
  writeFileSync(files.uri, `${database.uriWith(tlsOptions)}\n`);
  const api = await startConfigApi({
    ...{ MONGODB_URI: '', MONGODB_URI_FILE: files.uri },
    // A fast machine makes more requests than one tenant may.
    TENANT_REQUESTS_PER_SECOND: '0',
  });
  const acme = await api.tenant();
  let [isOver, requests] = [false, 0];
  const load = async (digit: string): Promise<void> => {
    const ref = `0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e5${digit}`;
    const hook = { eventType: 'PIX_OUT', endpointUrl: `https://hook.acme.com.br/${digit}`, ref };
    expect((await acme.post(hook)).status).toBe(200);
    while (!isOver) {
      requests += 1;
      expect((await acme.put({ ...hook, enabled: requests % 2 === 0 })).status).toBe(200);
      expect((await acme.list()).status).toBe(200);
    }
  };
  const loads = Promise.all(['1', '2', '3', '4'].map(load));
  const renewals = () =>
    api.lines.filter(({ message }) => message === 'the database is used by changed files');
  const untilRenewed = (times: number) =>
    Promise.race([loads, eventually(() => expect(renewals()).toHaveLength(times))]);
  expect(database.presented()).toEqual([first]);

  // The server accepts both authorities, the client as well.
  await database.use(before, before, after);
  writeFileSync(files.ca, before.caPem + after.caPem);
  await untilRenewed(1);
  const second = await presentOne(after);
  await untilRenewed(2);
  await eventually(() => expect(database.presented()).toEqual([second]));
  await database.use(after, after);

  writeFileSync(files.client, readFileSync(files.client, 'utf8').slice(0, 100));
  const refused = 'renewing the connection to the database failed; retrying';
  await eventually(() => expect(api.lines.map(({ message }) => message)).toContain(refused));
  const third = await presentOne(after);
  await untilRenewed(3);
  writeFileSync(files.uri, database.uriWith({ ...tlsOptions, appName: 'renewed' }));
  await untilRenewed(4);
  await eventually(() => expect(database.presented()).toEqual([third]));
  expect(api.ready().faults).toEqual({});
  isOver = true;
  await loads;
  expect(requests).toBeGreaterThan(50);
  await api.stop();
  await eventually(() => expect(database.presented()).toEqual([]));
});

describe('the check of the database', () => {
  const check = (options: Readonly<Record<string, string>>) =>
    checkMongo({ uri: database.uriWith(options), database: 'checked', uriFile: undefined });

  beforeAll(async () => {
    await database.use(before, before);
    copyFileSync(before.caFile, files.ca);
    await presentOne(before);
  });

  it('says that the database responds', async () => {
    expect(await check(tlsOptions)).toBe('MongoDB responds, and lists the collections of checked');
  });

  const tlsFix = /MONGODB_URI: check tls, tlsCAFile and tlsCertificateKeyFile$/;
  it.each([
    ['TLS is not used', {}, tlsFix],
    ['the authority is unknown', { tls: 'true' }, tlsFix],
    ['no client certificate is presented', { tls: 'true', tlsCAFile: files.ca }, tlsFix],
    [
      'a file is missing',
      { ...tlsOptions, tlsCAFile: join(dir, 'none') },
      /: check the files that it names$/,
    ],
  ])('names the fix when %s', async (_, options, fix) => {
    await expect(check(options)).rejects.toThrow(fix);
  });

  it('names the fix when nothing listens', async () => {
    const uri = 'mongodb://127.0.0.1:9/?directConnection=true';
    await expect(checkMongo({ uri, database: 'checked', uriFile: undefined })).rejects.toThrow(
      /: check hosts and ports/,
    );
  });
});
