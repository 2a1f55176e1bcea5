import { rename, writeFile } from 'node:fs/promises';
import { openCertificateAuthority } from '@webhooks/engines';
import { openDevelopmentSecrets, planClients } from '@webhooks/stack';
import { FILES, FOLDERS } from './folders.js';
import { required } from './required.js';

// Makes what must not be committed: authority, certificate, keys, passwords. Existing files are kept.

/** Writes a file whole or not at all. Mode 0600 is for our own user, 0644 for a volume that another user reads. */
async function put(file: string, text: string, mode: 0o600 | 0o644): Promise<void> {
  await writeFile(`${file}.new`, text, { mode });
  await rename(`${file}.new`, file);
}

const authority = await openCertificateAuthority(FOLDERS.authority);
const { certPem, keyPem } = await authority.issue([required('RECEIVER_HOST')]);
await put(FILES.authority, authority.caPem, 0o644);
await put(FILES.certificate, certPem, 0o644);
await put(FILES.certificateKey, keyPem, 0o600);

const secrets = openDevelopmentSecrets(FOLDERS.authority);
await put(FILES.keyring, secrets.keyring, 0o600);
await put(FILES.clients, JSON.stringify(planClients([], secrets)), 0o600);

const password = secrets.clientSecret('mongodb');
const options = 'authSource=admin&directConnection=true&retryWrites=false';
const uriOf = (database: string): string =>
  `mongodb://webhooks:${encodeURIComponent(password)}@${required('MONGODB_HOST')}/${database}?${options}`;
await put(FILES.databaseUri, uriOf('webhook_config'), 0o600);
await put(FILES.queryDatabaseUri, uriOf('webhook_query'), 0o600);
// The database's image reads it as another user.
await put(FILES.databasePassword, password, 0o644);
process.stdout.write('keys and certificates are there\n');
