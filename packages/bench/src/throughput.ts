import { deliverAll, makeLines, registerEndpoints } from './deliveries.js';
import { usageOf } from './process-usage.js';
import type { Figure, Rig } from './scenario.js';

const EVENTS = 20_000;

const pidsOf = ({ stack, receiver }: Rig): Readonly<Record<string, number>> => {
  const { start: _bench, ...processes } = stack.description().processes;
  return { ...processes, receiver: receiver.pid };
};

/** Events on the topic to one endpoint each, as fast as the worker takes them; CPU time split by process. */
export async function measureThroughput(rig: Rig): Promise<readonly Figure[]> {
  const count = rig.count ?? EVENTS;
  const hooks = await registerEndpoints(rig, 'throughput');
  await deliverAll(rig, hooks, makeLines(3_000, 21));
  const pids = pidsOf(rig);
  const before = Object.entries(pids).map(([name, pid]) => ({ name, pid, usage: usageOf(pid) }));
  const started = performance.now();
  const ledger = await deliverAll(rig, hooks, makeLines(count, 22));
  const seconds = (performance.now() - started) / 1_000;
  const { duplicates } = ledger.totals();
  rig.print(
    `throughput: ${count} deliveries in ${seconds.toFixed(1)} s, the ledger balances, ${duplicates} duplicates`,
  );
  return [
    { scenario: 'throughput', name: 'deliveries each second', value: count / seconds, unit: '1/s' },
    ...before.map(({ name, pid, usage }) => ({
      scenario: 'throughput',
      name: `CPU for each delivery: ${name}`,
      value: (usageOf(pid).cpuMicros - usage.cpuMicros) / count,
      unit: 'µs',
    })),
  ];
}
