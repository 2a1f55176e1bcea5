import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { version: VERSION } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'),
) as { readonly version: string };

const FIXTURE = join(import.meta.dirname, '..', 'dist', 'test', 'sample-service.js');

interface Sample {
  readonly child: ChildProcess;
  readonly lines: Record<string, unknown>[];
  readonly ended: Promise<number | null>;
  line(message: string): Promise<Record<string, unknown>>;
}

function startSample(env: Record<string, string>): Sample {
  const child = fork(FIXTURE, {
    env: { ...process.env, ADMIN_PORT: '0', ADMIN_HOST: '127.0.0.1', ...env },
    silent: true,
  });
  const lines: Record<string, unknown>[] = [];
  const waiting = new Map<string, (line: Record<string, unknown>) => void>();
  let rest = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const line = JSON.parse(part) as Record<string, unknown>;
      lines.push(line);
      waiting.get(String(line['message']))?.(line);
    }
  });
  // Not 'close': it does not come after `disconnect`. All lines are read when standard output has ended.
  const ended = Promise.all([once(child, 'exit'), child.stdout && once(child.stdout, 'end')]).then(
    ([[code]]) => code as number | null,
  );
  return {
    child,
    lines,
    ended,
    line: (message) => {
      const seen = lines.find((line) => line['message'] === message);
      return seen ? Promise.resolve(seen) : new Promise((resolve) => waiting.set(message, resolve));
    },
  };
}

const adminOf = async (sample: Sample) =>
  `http://127.0.0.1:${String((await sample.line('started'))['adminPort'])}`;

describe('a service', () => {
  it('serves health and metrics, and closes what it opened in reverse order', async () => {
    const sample = startSample({ BUILD_COMMIT: 'a1b2c3' });
    const admin = await adminOf(sample);
    const ready = await fetch(`${admin}/readyz`);
    const build = { version: VERSION, commit: 'a1b2c3' };
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ok', faults: {}, ...build }]);
    expect(sample.lines[0]).toMatchObject({ message: 'starting', ...build });
    const metrics = await (await fetch(`${admin}/metrics`)).text();
    expect(metrics).toContain('process_cpu_seconds_total');
    expect(metrics).toContain(`build_info{service="sample",version="${VERSION}",commit="a1b2c3",node="`);
    const page = await fetch(`${admin}/page`);
    expect([page.status, await page.json()]).toEqual([200, { size: 1, slabBytes: 8_192 }]);
    expect((await fetch(`${admin}/none`)).status).toBe(404);
    sample.child.kill('SIGTERM');
    expect(await sample.ended).toBe(0);
    const closed = sample.lines
      .filter((line) => line['message'] === 'closed part')
      .map((line) => line['part']);
    expect(closed).toEqual(['second', 'first']);
  });

  it('ends in order although the collector of its traces is away, and says so', async () => {
    const sample = startSample({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_TRACES_SAMPLER_ARG: '1',
    });
    await sample.line('started');
    sample.child.kill('SIGTERM');
    expect(await sample.ended).toBe(0);
    const [line] = sample.lines.filter(({ message }) => message === 'the last traces could not be exported');
    expect(line).toMatchObject({ level: 'warn', error: expect.stringContaining('took longer') as string });
  });

  it('reports every fault of its environment on standard error and ends with code 2', async () => {
    const sample = startSample({ SAMPLE_SIZE: 'x', ADMIN_PORT: 'y', LOG_LEVEL: 'WARN' });
    let stderr = '';
    sample.child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    expect(await sample.ended).toBe(2);
    expect(stderr).toContain('SAMPLE_SIZE');
    expect(stderr).toContain('ADMIN_PORT');
    expect(stderr).toContain('LOG_LEVEL: must be debug, info, warn or error');
    expect(stderr).not.toContain('    at ');
  });

  it('ends with code 1 after an unhandled rejection, closing first', async () => {
    const sample = startSample({ SAMPLE_FAULT: 'rejection' });
    expect(await sample.ended).toBe(1);
    expect(sample.lines.map((line) => line['message'])).toEqual(
      expect.arrayContaining(['unexpected fault', 'closed part', 'stopped']),
    );
  });

  it('reports a fault as no clean end', async () => {
    const sample = startSample({ SAMPLE_FAULT: 'rejection' });
    expect(await sample.line('stopped')).toMatchObject({ clean: false });
    expect(await sample.ended).toBe(1);
  });

  it('reports a fault while it ends as no clean end', async () => {
    const sample = startSample({ SAMPLE_FAULT: 'late-rejection' });
    await sample.line('started');
    sample.child.kill('SIGTERM');
    expect(await sample.line('stopped')).toMatchObject({ clean: false });
    expect(await sample.ended).toBe(1);
  });

  it('ends in order when its first signal comes after a fault', async () => {
    const sample = startSample({ SAMPLE_FAULT: 'signal' });
    await sample.line('stopping');
    sample.child.kill('SIGTERM');
    expect(await sample.line('stopped')).toMatchObject({ clean: false });
  });

  it.each([
    ['none', 0, 'ok     size: is right\nok     fault: none\n'],
    ['some', 1, 'ok     size: is right\nfault  fault: set SAMPLE_FAULT=none\n'],
  ])('with the argument check and the fault %s ends with %d', async (fault, code, expected) => {
    const child = fork(FIXTURE, ['check'], { env: { ...process.env, SAMPLE_FAULT: fault }, silent: true });
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    expect(await once(child, 'exit')).toEqual([code, null]);
    expect(output).toBe(expected);
  });

  it('ends when a part does not close within the deadline', async () => {
    const sample = startSample({ SAMPLE_FAULT: 'hang', SHUTDOWN_TIMEOUT_MS: '1000' });
    await sample.line('started');
    sample.child.kill('SIGTERM');
    expect(await sample.ended).toBe(1);
  });

  it('continues, and ends in order, when nobody reads its log any more', async () => {
    const sample = startSample({});
    await sample.line('started');
    const exited = once(sample.child, 'exit');
    sample.child.stdout?.destroy();
    sample.child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  it('ends when the process that started it has ended', async () => {
    const sample = startSample({});
    await sample.line('started');
    sample.child.disconnect();
    expect(await sample.ended).toBe(0);
  });
});
