import { addGauge, repeat } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { readClientCertificate } from './client-certificate.js';
import type { ClientCertificate } from './client-certificate.js';
import type { Sender } from './sender.js';

/** A renewed pair is in use within a minute, even if some looks meet files that are being written. */
const LOOK_EVERY_MS = 10_000;

/**
 * Presents what the files are renewed to. They are read again and again, because systems that swap symlinks in place of files
 * tell no watcher. A broken pair is refused, and the one before stays.
 */
export function watchClientCertificate(
  first: ClientCertificate,
  sender: Pick<Sender, 'present'>,
  { registry, log, onClose }: Pick<ServiceScope, 'registry' | 'log' | 'onClose'>,
  everyMs = LOOK_EVERY_MS,
): void {
  let presented = first;
  let refused = 0;
  const look = (): Promise<void> => {
    refused = 1;
    const found = readClientCertificate(presented);
    if (found.certificate !== presented.certificate) {
      sender.present(found);
      presented = found;
      log.info('the client certificate was renewed', { expiresAt: found.expiresAt.toISOString() });
    }
    refused = 0;
    return Promise.resolve();
  };
  const end = 'When the client certificate expires, Unix time';
  const endSeconds = (): number => presented.expiresAt.getTime() / 1_000;
  addGauge(registry, 'webhook_client_certificate_expiry_timestamp_seconds', end, endSeconds);
  const fault = '1 while the files of the client certificate hold a pair that is refused';
  addGauge(registry, 'webhook_client_certificate_refused', fault, () => refused);
  const watch = repeat({ name: 'renewing the client certificate', everyMs, work: look, log });
  onClose('client certificate', () => watch.stop());
}
