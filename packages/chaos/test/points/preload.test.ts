import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arm, disarm, takeArmed, whoPassed } from '../../src/points/armed.js';
import { preloadSettings } from '../../src/points/preload-settings.js';

const dir = mkdtempSync(join(tmpdir(), 'points-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const folder = join(dir, 'armed');
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

const POINT = 'before-accepting';
const SERVICE = join(dir, 'services', 'ingest', 'dist', 'src');
const program = join(SERVICE, 'publish-event.js');

/** A file that is called as the one of the point, with its place so many times, and a last line. */
function writeProgram(times: number): void {
  mkdirSync(SERVICE, { recursive: true });
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  const place = "published.inc({ result: 'acknowledged' });";
  const lines = [
    'const published = { inc: () => process.stdout.write("accepted") };',
    ...Array.from({ length: times }, () => place),
  ];
  writeFileSync(program, lines.join('\n'));
}

interface Ended {
  readonly pid: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it as a chaos run starts a service. */
function run(imported = ''): Promise<Ended> {
  return new Promise((resolve) => {
    const settings = preloadSettings(folder);
    const env = {
      ...process.env,
      ...settings,
      NODE_OPTIONS: `${imported} ${settings['NODE_OPTIONS'] ?? ''}`,
    };
    const child = execFile(process.execPath, [program], { env, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ pid: child.pid, signal: error?.signal ?? undefined, stdout, stderr });
    });
  });
}

it('a process dies at an armed point, before what comes behind it, and leaves its id; the next one lives', async () => {
  writeProgram(1);
  arm(folder, POINT);
  const { pid, signal, stdout } = await run();
  expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: '' });
  expect(whoPassed(folder, POINT)).toBe(pid);
  expect(disarm(folder, POINT)).toBe(false);
  expect(await run()).toMatchObject({ signal: undefined, stdout: 'accepted' });
});

it('a service whose file has no such place, or two, does not start', async () => {
  writeProgram(2);
  const { stdout, stderr } = await run();
  expect(stdout).toBe('');
  expect(stderr).toContain("'before-accepting': expected one place");
});

it('a service whose file is loaded without a source does not start', async () => {
  writeProgram(1);
  const other = join(dir, 'other-hook.mjs');
  const hook = `load: (url, context, next) =>
    url.endsWith('publish-event.js') ? { format: 'commonjs', source: null, shortCircuit: true } : next(url, context)`;
  writeFileSync(other, `import { registerHooks } from 'node:module'; registerHooks({ ${hook} });`);
  const { stdout, stderr } = await run(`--import=${other}`);
  expect(stdout).toBe('');
  expect(stderr).toContain('expected the source of');
});

it('a point that was disarmed is passed', () => {
  arm(folder, POINT);
  expect(disarm(folder, POINT)).toBe(true);
  expect(takeArmed(folder, POINT)).toBe(false);
});

it('a point that is armed again has been passed by nobody', () => {
  arm(folder, POINT);
  expect(takeArmed(folder, POINT)).toBe(true);
  expect(takeArmed(folder, POINT)).toBe(false);
  expect(whoPassed(folder, POINT)).toBe(process.pid);
  arm(folder, POINT);
  expect(whoPassed(folder, POINT)).toBeUndefined();
});
