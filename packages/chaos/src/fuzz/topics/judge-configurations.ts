import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@webhooks/client';
import { TOPICS, configurationKey } from '@webhooks/contracts';
import type { ConfigurationRecord } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import type { Notes } from '../notes.js';
import { showRecord } from './fuzz-record.js';
import type { WrittenRecord } from './fuzz-record.js';
import { configurationOf } from './read-record.js';

/** What is needed to see which configurations are in force. */
export interface ConfigurationPorts {
  readonly clientOf: (tenantId: string) => Client;
  readonly origin: string;
  /** `ref` of the configuration of the tenant `fuzz-attacked`. */
  readonly attackedRef: string;
  /** Whether this event arrived at this path. */
  readonly arrived: (path: string, id: string) => boolean;
  /** Paths of mutated configurations at which this event arrived. */
  readonly mutantPaths: (id: string) => readonly string[];
}

const EVENT_TYPE = 'PIX_OUT';
/** In force 1 s after the answer; a topic that was spoiled is repaired within some rounds of a second each. */
const REPAIR_DEADLINE_MS = 20_000;
const LOOK_MS = 500;

async function send(tenantId: string, ports: ConfigurationPorts): Promise<string> {
  const event = buildEvent({ tenantId, eventType: EVENT_TYPE });
  return ports.clientOf(tenantId).postEvent(event);
}

/** Sends events until one arrives at the path; false when none does within 20 s. */
async function untilArrives(tenantId: string, path: string, ports: ConfigurationPorts): Promise<boolean> {
  const deadline = performance.now() + REPAIR_DEADLINE_MS;
  const sent: string[] = [];
  while (performance.now() < deadline) {
    sent.push(await send(tenantId, ports));
    await delay(LOOK_MS);
    if (sent.some((id) => ports.arrived(path, id))) return true;
  }
  return false;
}

/** Whatever was written to the topic about it: a change that config-api answers comes in force. */
async function judgeAttacked(
  records: readonly WrittenRecord[],
  turn: number,
  ports: ConfigurationPorts,
  notes: Notes,
): Promise<void> {
  const tenantId = FUZZ_TENANTS.attacked;
  const path = `/attacked/${turn}`;
  const endpointUrl = `${ports.origin}${path}`;
  await ports.clientOf(tenantId).update({ ref: ports.attackedRef, eventType: EVENT_TYPE, endpointUrl });
  if (await untilArrives(tenantId, path, ports)) return;
  const key = configurationKey(tenantId, ports.attackedRef);
  const attacks = records.filter((record) => record.key === key);
  const shown = attacks.map(showRecord).join('\n');
  notes.found(attacks.at(-1)?.index ?? 0, 'a change did not come in force after these records', shown);
}

const isWanted = (configuration: ConfigurationRecord, path: string): boolean =>
  configuration.tenantId === FUZZ_TENANTS.pictured &&
  configuration.eventType === EVENT_TYPE &&
  configuration.enabled &&
  configuration.secrets === undefined &&
  URL.canParse(configuration.endpointUrl) &&
  new URL(configuration.endpointUrl).pathname === path;

/** Configurations of the batch that this event should have reached and did not. */
const notReached = (
  records: readonly WrittenRecord[],
  id: string,
  { arrived }: ConfigurationPorts,
): readonly WrittenRecord[] =>
  records.filter((record) => {
    const configuration = configurationOf(record);
    const path = `/mutant/${record.index}`;
    return configuration !== undefined && isWanted(configuration, path) && !arrived(path, id);
  });

/** Configurations of the batch that cannot be read, and that the event reached all the same. */
function wronglyReached(
  records: readonly WrittenRecord[],
  id: string,
  { mutantPaths }: ConfigurationPorts,
): readonly WrittenRecord[] {
  const reached = new Set(mutantPaths(id).map((path) => /^\/mutant\/(\d+)/.exec(path)?.[1]));
  return records.filter(
    (record) => configurationOf(record) === undefined && reached.has(String(record.index)),
  );
}

/** Each mutated configuration that can be read gets an event. Resolves with the id of that. */
async function judgeReadable(
  own: readonly WrittenRecord[],
  ports: ConfigurationPorts,
  notes: Notes,
): Promise<string> {
  const id = await send(FUZZ_TENANTS.pictured, ports);
  const deadline = performance.now() + REPAIR_DEADLINE_MS;
  while (notReached(own, id, ports).length > 0 && performance.now() < deadline) await delay(LOOK_MS);
  for (const record of notReached(own, id, ports))
    notes.found(record.index, 'nothing is delivered to this configuration', showRecord(record));
  return id;
}

/** None that cannot be read gets any of these events. */
function judgeUnreadable(
  own: readonly WrittenRecord[],
  ids: readonly string[],
  ports: ConfigurationPorts,
  notes: Notes,
): void {
  for (const record of new Set(ids.flatMap((id) => wronglyReached(own, id, ports))))
    notes.found(record.index, 'something was sent for this configuration', showRecord(record));
}

/** Records that disable what the batch has put in force, so that the next one has few configurations again. */
export const takeBack = (records: readonly WrittenRecord[]) =>
  records.flatMap((record) => {
    const configuration = configurationOf(record);
    if (configuration?.tenantId !== FUZZ_TENANTS.pictured) return [];
    const { tenantId, ref, revision } = configuration;
    const value = JSON.stringify({ ...configuration, revision: revision + 1, enabled: false });
    return [{ key: configurationKey(tenantId, ref), value }];
  });

/** Which configurations are in force after a batch; `turn` counts batches. */
export async function judgeConfigurations(
  records: readonly WrittenRecord[],
  turn: number,
  ports: ConfigurationPorts,
  notes: Notes,
): Promise<void> {
  const own = records.filter(({ topic }) => topic === TOPICS.configurations);
  const early = await judgeReadable(own, ports, notes);
  const late = await send(FUZZ_TENANTS.pictured, ports);
  await judgeAttacked(records, turn, ports, notes);
  // Only now: what an unreadable one brings about may come a little later.
  judgeUnreadable(own, [early, late], ports, notes);
}
