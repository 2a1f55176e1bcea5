import { monotonicMicros } from '../measure/clock.js';
import { writeAcceptances } from './acceptance-file.js';
import type { Door } from './door.js';
import { openEndpointsDoor } from './endpoints-door.js';
import type { DoorPlan, GeneratorReport, LoadPlan } from './generator-messages.js';
import { openIngestDoor } from './ingest-door.js';
import { makeEvents } from './make-events.js';
import type { BenchEvent } from './make-events.js';
import { sendFlood } from './send-flood.js';
import { sendScheduled } from './send-scheduled.js';
import type { Sent } from './sent.js';
import { openTopicDoor } from './topic-door.js';

// The generator as a process of its own, so that its time is nobody else's: PLAN as JSON; `go` on the channel starts it.

/** Up to so many events are made before the start (some 400 MB); more are made on the way, in a flood only. */
const MADE_AHEAD = 300_000;

const plan = JSON.parse(process.argv[2] ?? '') as LoadPlan;
const tell = (report: GeneratorReport): void => void process.send?.(report);

function openDoor(door: DoorPlan): Door | Promise<Door> {
  switch (door.kind) {
    case 'topic':
      return openTopicDoor(door.brokers);
    case 'ingest':
      return openIngestDoor(door);
    case 'endpoints':
      return openEndpointsDoor(door);
  }
}

function sendAll(events: readonly BenchEvent[] | undefined, door: Door): Promise<Sent> {
  const { pace, batch } = plan;
  if (pace.kind === 'flood')
    return sendFlood(events?.values() ?? makeEvents(plan.events), door, { ...pace, batch });
  return sendScheduled(events ?? [...makeEvents(plan.events)], door, { ...pace, batch });
}

async function generate(): Promise<void> {
  const events = plan.events.count <= MADE_AHEAD ? [...makeEvents(plan.events)] : undefined;
  const door = await openDoor(plan.door);
  const told = new Promise((resolve) => process.once('message', resolve));
  tell({ kind: 'ready' });
  await told;
  const before = process.cpuUsage();
  const { startedAt, acceptances, lateness } = await sendAll(events, door);
  const endedAt = monotonicMicros();
  const { user, system } = process.cpuUsage(before);
  const times = { startedAt, endedAt, cpuMicros: user + system };
  tell({
    kind: 'sent',
    report: { accepted: acceptances.length, ...times, ...(lateness ? { lateness } : {}) },
  });
  writeAcceptances(plan.file, acceptances);
  tell({ kind: 'written' });
  await door.close();
}

process.once('disconnect', () => process.exit(0));
generate().catch((error: unknown) => {
  tell({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
});
