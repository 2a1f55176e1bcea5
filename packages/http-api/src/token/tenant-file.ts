import { readFileSync, statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isObject, isTenantId, parseStrictJson } from '@webhooks/contracts';
import { repeatUntilClose, type ServiceScope } from '@webhooks/runtime';
import { shown } from './token-faults.js';

/** Largest file, bytes: 10,000 clients. */
const MAX_FILE_BYTES = 1_048_576;
/** A changed file is in use after this time, milliseconds. A file watcher would not notice replaced symlinks. */
const CHECK_EVERY_MS = 5_000;

/** Reads a file with a JSON object of client ids and their tenants. Throws with what was expected. */
export function readTenantFile(file: string) {
  if (statSync(file).size > MAX_FILE_BYTES) throw new Error(`expected at most ${MAX_FILE_BYTES} bytes`);
  const parsed = parseStrictJson(readFileSync(file));
  if (!parsed.ok || !isObject(parsed.value))
    throw new Error('expected a JSON object of client ids and tenants');
  const tenants = new Map(Object.entries(parsed.value));
  for (const [clientId, tenantId] of tenants)
    if (!isTenantId(tenantId)) throw new Error(`expected the tenant of the client ${shown(clientId)}`);
  return { file, tenants: tenants as ReadonlyMap<string, string> };
}

/** Returns the tenant of a client, by the file as it is now. A broken file is refused, and the last good one stays. */
export function watchTenantFile(
  first: ReturnType<typeof readTenantFile>,
  scope: Pick<ServiceScope, 'log' | 'onClose'>,
  everyMs = CHECK_EVERY_MS,
): (clientId: string) => string | undefined {
  let { tenants } = first;
  const work = (): void => {
    const { tenants: found } = readTenantFile(first.file);
    if (!isDeepStrictEqual(found, tenants))
      scope.log.info('the tenants of clients were renewed', { clients: found.size });
    tenants = found;
  };
  repeatUntilClose({ name: 'reading TENANT_BY_CLIENT_FILE', everyMs, work }, scope);
  return (clientId) => tenants.get(clientId);
}
