import { readFileSync } from 'node:fs';
import { startEndpoint } from '@webhooks/testkit';

// A receiver as a process of its own, so that its time is not counted as the worker's: CERT KEY FILE.
const [certFile, keyFile, file] = process.argv.slice(2);
if (certFile === undefined || keyFile === undefined || file === undefined)
  throw new Error('usage: receiver-main CERT KEY FILE');
const endpoint = await startEndpoint({
  certPem: readFileSync(certFile, 'utf8'),
  keyPem: readFileSync(keyFile, 'utf8'),
  file,
  remember: 1,
});
process.once('disconnect', () => process.exit(0));
process.send?.(endpoint.port);
