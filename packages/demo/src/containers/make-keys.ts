import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openCertificateAuthority, openDevelopmentSecrets, planClients, writeWhole } from '@webhooks/local';
import { print } from '@webhooks/testkit/account';
import { FILES, FOLDERS, required } from './environment.js';

// Creates what must not be committed: authority, certificate, keys, passwords. Existing ones are used again. Files with mode 0600 are for
// this container's user; other users read a volume by its group or as anybody.

const authority = await openCertificateAuthority(FOLDERS.authority);
const { certPem, keyPem } = await authority.issue([required('RECEIVER_HOST')]);
await writeWhole(join(FOLDERS.secrets, 'ca.pem'), authority.caPem, 0o644);
await writeWhole(FILES.certificate, certPem, 0o644);
await writeWhole(FILES.certificateKey, keyPem, 0o600);

const secrets = openDevelopmentSecrets(FOLDERS.authority);
const keys = join(FOLDERS.secrets, 'secrets-keys');
// Whoever rotates the keys writes this file, and the only copy of a new key may be in it.
if (!existsSync(keys)) await writeWhole(keys, secrets.keyring, 0o600);
await writeWhole(FILES.consoleSecret, secrets.clientSecret('console'), 0o600);
await writeWhole(FILES.clients, JSON.stringify(planClients([], secrets)), 0o600);

/** Makes a password that the database reads, for `deploy/compose/mongodb-users.js`. */
async function makePassword(user: string): Promise<string> {
  const password = secrets.clientSecret(`mongodb/${user}`);
  await writeWhole(join(FOLDERS.database, user), password, 0o640);
  return password;
}

await makePassword('root');
for (const [database, folder] of [
  ['webhook_config', FOLDERS.configDatabase],
  ['webhook_query', FOLDERS.queryDatabase],
] as const) {
  const credentials = `${database}:${encodeURIComponent(await makePassword(database))}`;
  const address = `${required('MONGODB_HOST')}/${database}?directConnection=true&retryWrites=false`;
  await writeWhole(join(folder, 'uri'), `mongodb://${credentials}@${address}`, 0o600);
}
print('keys and certificates are ready');
