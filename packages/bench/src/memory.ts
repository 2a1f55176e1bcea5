import { deliverAll, makeLines, registerEndpoints } from './deliveries.js';
import { usageOf } from './process-usage.js';
import type { Figure, Rig } from './scenario.js';

const EVENTS = 200_000;
const STEP = 10_000;
const MIB = 1_048_576;
const SERVICES = ['config-api', 'ingest', 'delivery-worker'] as const;

/** Resident memory of each service while events go through, one line every 10,000 deliveries. */
export async function measureMemory(rig: Rig): Promise<readonly Figure[]> {
  const count = rig.count ?? EVENTS;
  const hooks = await registerEndpoints(rig, 'memory');
  const { processes } = rig.stack.description();
  const rss = (): number[] => SERVICES.map((name) => usageOf(processes[name] ?? 0).rssBytes / MIB);
  const samples: number[][] = [];
  rig.print(`memory, MiB: ${['delivered', ...SERVICES].join('  ')}`);
  let delivered = 0;
  const note = (): void => {
    const sample = rss();
    samples.push(sample);
    rig.print(
      [delivered, ...sample.map((mib) => mib.toFixed(0))].map((cell) => String(cell).padStart(9)).join('  '),
    );
  };
  for (let step = 0; delivered < count; step += 1) {
    const lines = makeLines(Math.min(STEP, count - delivered), 1_000 + step);
    await deliverAll(rig, hooks, lines);
    delivered += lines.length;
    note();
  }
  const [early, last] = [samples[Math.floor(samples.length / 4)] ?? [], samples.at(-1) ?? []];
  return SERVICES.flatMap((name, index) => [
    { scenario: 'memory', name: `${name} after a quarter`, value: early[index] ?? 0, unit: 'MiB' },
    { scenario: 'memory', name: `${name} at the end`, value: last[index] ?? 0, unit: 'MiB' },
  ]);
}
