import { monotonicMicros } from '../measure.js';
import { makeEvents } from './generator.js';
import type { GeneratorReport, LoadPlan } from './generator.js';
import { sendAll, openTarget } from './send.js';

// The generator as a process of its own: a plan as JSON in its first argument; a message starts it. Events are made before.
const plan = JSON.parse(process.argv[2] ?? '') as LoadPlan;
const report = (message: GeneratorReport): void => void process.send?.(message);

async function generate(): Promise<void> {
  const target = await openTarget(plan.target);
  const made = makeEvents(plan.events);
  const events = made.map((event) => {
    const { id, data } = event;
    return { id, key: plan.foreignKeys ? id : data.endToEndId, body: target.encode(event) };
  });
  const told = new Promise((resolve) => process.once('message', resolve));
  report({ kind: 'ready' });
  await told;
  const { warmUp, perSecond } = plan;
  const warm = await sendAll(events.slice(0, warmUp), target, perSecond);
  const [cpuBefore, startedAt] = [process.cpuUsage(), monotonicMicros()];
  const sent = await sendAll(events.slice(warmUp), target, perSecond);
  const [{ user, system }, endedAt] = [process.cpuUsage(cpuBefore), monotonicMicros()];
  const acceptances = made.map(({ id, tenantId }, index) => {
    const [times, at] = index < warmUp ? [warm, index] : [sent, index - warmUp];
    return { id, tenantId, dueAt: times.dueAt[at] ?? 0, acknowledgedAt: times.acknowledgedAt[at] ?? 0 };
  });
  const cpuMicros = user + system;
  const { lateMicros } = sent;
  report({ kind: 'sent', load: { acceptances, startedAt, endedAt, cpuMicros, lateMicros } });
  await target.close();
}

process.once('disconnect', () => process.exit(0));
generate().catch((error: unknown) => {
  report({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
});
