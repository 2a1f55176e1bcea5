import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@webhooks/client';
import { clientFor } from '@webhooks/ledger';
import type { Print } from '@webhooks/ledger';
import { startStack } from '@webhooks/stack';
import type { Stack, StackDescription } from '@webhooks/stack';
import { startEndpoint } from '@webhooks/testkit';
import type { Endpoint, Script } from '@webhooks/testkit';

/** A tenant for each door, so that none finds what another left. */
export const FUZZ_TENANTS = {
  configApi: 'fuzz-config',
  ingest: 'fuzz-ingest',
  queryApi: 'fuzz-query',
  topics: 'fuzz-topics',
  pictured: 'fuzz-pictured',
  attacked: 'fuzz-attacked',
  answers: 'fuzz-answers',
  neighbour: 'fuzz-neighbour',
} as const;

/** The services, with nothing in their way; what comes in through their doors is the trouble. */
export interface FuzzWorld {
  readonly stack: Stack;
  readonly clientOf: (tenantId: string) => Client;
  /** A real HTTPS receiver that the services trust; closed with the world. */
  openEndpoint(answer: Script): Promise<Endpoint>;
  /** Services that ended by themselves and were started again, in words. */
  readonly restarts: readonly string[];
  /** Memory of each service that runs now, in MiB, by its name. */
  memory(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

const SERVICES: ReadonlySet<string> = new Set(['config-api', 'ingest', 'delivery-worker', 'query-api']);

/**
 * Five retries, quickly: each pooled connection that a receiver has reset can cost one. The breaker stays closed: its rules
 * have tests of their own, and an endpoint that answers nonsense all the time would get nothing else to answer.
 */
const WORKER_SETTINGS = {
  RETRY_DELAYS: '200ms,1s,1s,1s,1s',
  RETRY_AFTER_MAX: '1s',
  BREAKER_FAILURES: '1000000',
};
/** A tenant that fuzzes for minutes would be answered 429. */
const NO_LIMIT = { TENANT_REQUESTS_PER_SECOND: '0' };

/** Whether a process ended before, or while, it was looked at (proc(5)). */
const isGone = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  (error.code === 'ENOENT' || error.code === 'ESRCH');

/** Empty for a process that has ended. */
function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch (error) {
    if (isGone(error)) return '';
    throw error;
  }
}

/** Resident memory in MiB (proc_pid_status(5)) of each of these processes that is there, by its name. */
export function memoryOf(processes: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const memory = new Map<string, number>();
  for (const [name, pid] of Object.entries(processes)) {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readStatus(pid))?.[1];
    if (kib !== undefined) memory.set(name, Math.round(Number(kib) / 1_024));
  }
  return memory;
}

/** The services among the stack's processes; one that has just ended has none. */
const servicesOf = ({ processes }: StackDescription): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(processes).filter(([name]) => SERVICES.has(name)));

/** Brings everything up; whatever ends by itself is started again, and told of in `restarts`. */
export async function openFuzzWorld(dataDir: string, print: Print): Promise<FuzzWorld> {
  const restarts: string[] = [];
  const stack = await startStack({
    dataDir: join(dataDir, 'stack'),
    fixedPorts: false,
    tenants: Object.values(FUZZ_TENANTS),
    overrides: {
      'delivery-worker': WORKER_SETTINGS,
      'config-api': NO_LIMIT,
      ingest: NO_LIMIT,
      'query-api': NO_LIMIT,
    },
    log: (line) => {
      if (line.includes(' ended (')) restarts.push(line);
      print(line);
    },
  });
  const endpoints: Endpoint[] = [];
  return {
    stack,
    restarts,
    clientOf: (tenantId) => clientFor(stack.clientOf(tenantId), stack.description()),
    openEndpoint: async (answer) => {
      const { certPem, keyPem } = await stack.authority.issue(['localhost']);
      const endpoint = await startEndpoint({ certPem, keyPem, answer, remember: 1 });
      endpoints.push(endpoint);
      return endpoint;
    },
    memory: () => memoryOf(servicesOf(stack.description())),
    stop: async () => {
      await stack.stop();
      for (const endpoint of endpoints) await endpoint.close();
    },
  };
}
