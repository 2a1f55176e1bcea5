import { readFileSync, statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isTenantId, parseStrictJson } from '@webhooks/contracts';
import { repeat, type ServiceScope } from '@webhooks/runtime';
import { shown } from './token-faults.js';

/** Largest file, bytes: 10,000 clients. */
const MAX_FILE_BYTES = 1_048_576;
/** A changed file is in use within seconds. It is read, because a watcher does not notice replaced symlinks. */
const CHECK_EVERY_MS = 5_000;

/** Reads a file with a JSON object of client ids and their tenants. Throws with what was expected. */
export function readTenantFile(file: string) {
  if (statSync(file).size > MAX_FILE_BYTES) throw new Error(`expected at most ${MAX_FILE_BYTES} bytes`);
  const parsed = parseStrictJson(readFileSync(file));
  if (!parsed.ok) throw new Error('expected a JSON object of client ids and tenants');
  const entries = Object.entries(Object(parsed.value) as Readonly<Record<string, unknown>>);
  const tenants = new Map<string, string>();
  for (const [clientId, tenantId] of entries) {
    if (!isTenantId(tenantId)) throw new Error(`expected the tenant of the client ${shown(clientId)}`);
    tenants.set(clientId, tenantId);
  }
  return { file, tenants };
}

/** Returns the tenant of a client, by the file as it is now. A broken file is refused, and the last good one stays. */
export function watchTenantFile(
  first: ReturnType<typeof readTenantFile>,
  { log, onClose }: Pick<ServiceScope, 'log' | 'onClose'>,
  everyMs = CHECK_EVERY_MS,
): (clientId: string) => string | undefined {
  let { tenants } = first;
  const work = (): Promise<void> => {
    const { tenants: found } = readTenantFile(first.file);
    if (!isDeepStrictEqual(found, tenants))
      log.info('the tenants of clients were renewed', { clients: found.size });
    tenants = found;
    return Promise.resolve();
  };
  const watch = repeat({ name: 'reading TENANT_BY_CLIENT_FILE', everyMs, work, log });
  onClose('tenants of clients', () => watch.stop());
  return (clientId) => tenants.get(clientId);
}
