import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyTestEngines, startStack } from '@webhooks/local';
import type { Stack } from '@webhooks/local';

const WORKER = 'delivery-worker';

const isAlive = (pid: number | undefined): boolean => {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the services of a stack, one by one', () => {
  let engines: Awaited<ReturnType<typeof emptyTestEngines>>;
  let stack: Stack;
  const dataDir = mkdtempSync(join(tmpdir(), 'fleet-'));
  const pidOf = (name: string): number | undefined => stack.description().processes[name];

  beforeAll(async () => {
    engines = await emptyTestEngines();
    stack = await startStack({ ...engines, dataDir, fixedPorts: false, log: () => undefined });
  });
  afterAll(async () => {
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('runs a second worker beside the first, which ends with the stack’s own stop of it', async () => {
    const { pid } = await stack.fleet.startReplica({ name: 'delivery-worker-2', like: WORKER });
    expect(pidOf('delivery-worker-2')).toBe(pid);
    expect([isAlive(pidOf(WORKER)), isAlive(pid)]).toEqual([true, true]);
    expect(readFileSync(join(dataDir, 'stack.json'), 'utf8')).toContain('"delivery-worker-2"');
    await stack.fleet.stop('delivery-worker-2');
    expect([pidOf('delivery-worker-2'), isAlive(pid)]).toEqual([undefined, false]);
  });

  it('has an exclusive Kafka: a stack of another folder is refused, and leaves nothing behind', async () => {
    const other = join(dataDir, 'other');
    const starting = startStack({ ...engines, dataDir: other, fixedPorts: false, log: () => undefined });
    await expect(starting).rejects.toThrow(/the worker delivery-worker@\S+ reads this Kafka/);
  });

  it('does not bring back a worker that was stopped, and starts it when asked', async () => {
    const before = pidOf(WORKER);
    await stack.fleet.stop(WORKER);
    expect([pidOf(WORKER), isAlive(before)]).toEqual([undefined, false]);
    const { pid } = await stack.fleet.start(WORKER);
    expect(pid).not.toBe(before);
    expect([pidOf(WORKER), isAlive(pid)]).toEqual([pid, true]);
  });

  it('refuses a service that it does not know', async () => {
    await expect(stack.fleet.start('delivery-wroker')).rejects.toThrow('there is no service delivery-wroker');
  });
});
