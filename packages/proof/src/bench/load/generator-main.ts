import { once } from 'node:events';
import { makeEvents, sendLoad } from './generator.js';
import type { LoadPlan } from './generator.js';
import type { GeneratorReport } from './processes.js';
import { openTarget } from './send.js';

// Runs the generator as a separate process. Its first argument is the plan as JSON. It builds the events, reports `ready`, and begins to
// send at the first message.
const plan = JSON.parse(process.argv[2] ?? '') as LoadPlan;
const report = (message: GeneratorReport): void => void process.send?.(message);

async function generate(): Promise<void> {
  const target = await openTarget(plan.target);
  const events = makeEvents(plan).map((event) => {
    const { id, tenantId, data } = event;
    const key = plan.foreignKeys === true ? id : data.endToEndId;
    return { id, tenantId, key, body: target.encode(event) };
  });
  const started = once(process, 'message');
  report({ kind: 'ready' });
  await started;
  report({ kind: 'sent', load: await sendLoad(events, target, plan) });
  await target.close();
}

process.once('disconnect', () => process.exit(0));
generate().catch((error: unknown) => {
  report({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
});
