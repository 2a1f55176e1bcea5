import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, openStrangeAuthority, sharedAuthority, startEndpoint } from '@webhooks/testkit';
import { eventFor, openRig } from './rig.js';
import type { Rig } from './rig.js';

type Authority = Awaited<ReturnType<typeof sharedAuthority>>;

const dir = mkdtempSync(join(tmpdir(), 'worker-client-'));
const files = { CLIENT_CERTIFICATE_FILE: join(dir, 'tls.crt'), CLIENT_KEY_FILE: join(dir, 'tls.key') };

/** A certificate of this authority in place of the one before. */
async function renew(authority: Authority, notAfter: Date): Promise<void> {
  const { certFile, keyFile } = await authority.issue(['deliveries'], { notAfter });
  copyFileSync(keyFile, files.CLIENT_KEY_FILE);
  copyFileSync(certFile, files.CLIENT_CERTIFICATE_FILE);
}

let rig: Rig;

afterAll(() => rig.stop());

const untilDelivered = async ({ caPem }: Authority): Promise<void> => {
  const endpoint = await startEndpoint({ tls: { ca: caPem, requestCert: true, rejectUnauthorized: true } });
  const configuration = await rig.register(endpoint);
  await rig.bench.send(eventFor(configuration));
  await rig.untilTimeline(configuration.ref, ['1 200']);
  await endpoint.close();
};

it('a worker delivers with its client certificate, and within a minute with the one it is renewed to', async () => {
  const [first, second] = [await sharedAuthority(), await openStrangeAuthority()];
  await renew(first, new Date(Date.now() + 86_400_000));
  rig = await openRig(files);
  await untilDelivered(first);
  const end = Math.floor(Date.now() / 1_000) + 90 * 86_400;
  await renew(second, new Date(end * 1_000));
  await eventually(
    async () => expect(await rig.worker.metrics()).toContain(`expiry_timestamp_seconds ${end}\n`),
    { timeoutMs: 60_000 },
  );
  await untilDelivered(second);
}, 120_000);
