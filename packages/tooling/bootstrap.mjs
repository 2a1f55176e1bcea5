// Runs one of the project's commands after `git clone` alone, on any Node from 20 up.
// It installs and builds what is missing or out of date, then hands over to the pinned Node of the workspace.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** The folder whose lock file holds the checksum of pnpm. */
const PNPM = join(ROOT, 'packages', 'tooling', 'pnpm');
const CONSOLE = join(ROOT, 'services', 'console');
const NODE = join(ROOT, 'node_modules', 'node', 'bin', 'node');
/** The lowest Node for a machine for which the lock file has none: macOS. */
const LOWEST_MAJOR = 24;
const bin = (name) => join(ROOT, 'node_modules', name);

/** kafkajs 2.2.4 arms timers with a negative delay, and Node 24 prints a warning for the first one. */
const QUIET_TIMERS = '--disable-warning=TimeoutNegativeWarning';

/** Each command: does it need a build, and what does the pinned Node run, side by side? Further arguments go to the last. */
const COMMANDS = {
  build: { build: true, runs: [] },
  start: { build: true, runs: [[QUIET_TIMERS, 'packages/demo/dist/src/main.js']] },
  // One thread for collections, as the services have: with two the endpoint of `bench handlers` stood still for 0.15 s on full cores.
  bench: { build: true, runs: [[QUIET_TIMERS, '--v8-pool-size=1', 'packages/proof/dist/src/bench/main.js']] },
  compare: { build: true, runs: [[QUIET_TIMERS, 'packages/proof/dist/src/compare/main.js']] },
  chaos: { build: true, runs: [[QUIET_TIMERS, 'packages/proof/dist/src/chaos/main.js']] },
  upgrade: { build: true, runs: [[QUIET_TIMERS, 'packages/proof/dist/src/upgrade/main.js']] },
  test: {
    build: true,
    runs: [
      [
        QUIET_TIMERS,
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
        bin('jest/bin/jest.js'),
        '--config',
        'packages/tooling/jest.config.mjs',
      ],
    ],
  },
  lint: {
    build: true,
    runs: [
      [bin('prettier/bin/prettier.cjs'), '--check', '--log-level', 'warn', '.'],
      [
        bin('eslint/bin/eslint.js'),
        '--config',
        'packages/tooling/eslint.config.mjs',
        '--max-warnings',
        '0',
        'packages',
        'services',
      ],
      [
        bin('dependency-cruiser/bin/dependency-cruiser.mjs'),
        '--config',
        'packages/tooling/dependency-cruiser.cjs',
        '--output-type',
        'err',
        ...['packages', 'services'].flatMap((dir) => [`${dir}/*/src`, `${dir}/*/test`]),
      ],
      [bin('knip/bin/knip.js'), '--config', 'packages/tooling/knip.json', '--no-progress'],
      ['packages/tooling/check-folders.mjs'],
    ],
  },
  format: { build: false, runs: [[bin('prettier/bin/prettier.cjs'), '--write', '--log-level', 'warn', '.']] },
};

/** pnpm keeps a copy of the lock file of what it has installed. */
function isInstalled() {
  const copy = join(ROOT, 'node_modules', '.pnpm', 'lock.yaml');
  if (!existsSync(NODE) || !existsSync(copy)) return false;
  return readFileSync(copy).equals(readFileSync(join(ROOT, 'pnpm-lock.yaml')));
}

/** Runs a command whose output is shown only when it fails. What takes longer than 1 s is announced, and again every 5 s. */
function quietly(title, command, args) {
  return new Promise((resolve, reject) => {
    const started = Date.now();
    const say = (what) =>
      process.stdout.write(`· ${title}${what} ${((Date.now() - started) / 1_000).toFixed(0)} s\n`);
    const tickers = [setTimeout(say, 1_000, ' …'), setInterval(say, 5_000, ' …')];
    const stopTickers = () => tickers.forEach((ticker) => clearInterval(ticker));
    const output = [];
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('error', (error) => {
      stopTickers();
      reject(new Error(`${title}: ${command} could not be started: ${error.message}`));
    });
    child.on('close', (code) => {
      stopTickers();
      if (code === 0) {
        if (Date.now() - started > 1_000) say(': done in');
        return resolve();
      }
      process.stderr.write(Buffer.concat(output));
      reject(new Error(`${title} failed (${command} ${args.slice(0, 3).join(' ')} … ended with ${code})`));
    });
  });
}

async function install() {
  if (isInstalled()) return;
  const options = ['--frozen-lockfile', '--prefer-offline'];
  await quietly('installing pnpm from the npm registry', 'npm', ['ci', '--prefix', PNPM, '--prefer-offline']);
  const pnpm = join(PNPM, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
  await quietly('installing packages from the npm registry', process.execPath, [pnpm, 'install', ...options]);
  // npm's scripts would find this shell script as `node`: one more in between that passes no signal on.
  rmSync(bin('.bin/node'), { force: true });
  linkNode();
}

/** Links the Node of the lock file, else the one that runs this, to the place where everything looks for it. */
function linkNode() {
  const locked = bin(`node-${process.platform}-${process.arch}/bin/node`);
  const isLocked = existsSync(locked);
  if (!isLocked && Number.parseInt(process.versions.node, 10) < LOWEST_MAJOR)
    throw new Error(
      `there is no locked Node for ${process.platform} ${process.arch}: run this with Node ${LOWEST_MAJOR}`,
    );
  rmSync(bin('node'), { recursive: true, force: true });
  mkdirSync(dirname(NODE), { recursive: true });
  symlinkSync(isLocked ? locked : process.execPath, NODE);
}

/** tsc knows what is up to date: without a change it takes half a second. */
async function build() {
  await quietly('building (tsc --build)', NODE, [
    bin('typescript/bin/tsc'),
    ...['--build', 'packages/tooling', '--pretty', 'false'],
  ]);
  const vite = join(CONSOLE, 'node_modules', 'vite', 'bin', 'vite.js');
  if (!areCurrent())
    await quietly('building the pages of the console (vite)', NODE, [
      vite,
      'build',
      '--config',
      join(CONSOLE, 'vite.config.mjs'),
    ]);
}

/** Whether the built pages are newer than all that they are made of. */
function areCurrent() {
  const page = join(CONSOLE, 'dist', 'web', 'index.html');
  if (!existsSync(page)) return false;
  const packages = ['client', 'contracts'].map((name) => `../../packages/${name}/dist/src`);
  const sources = ['src/web', 'vite.config.mjs', ...packages, '../../pnpm-lock.yaml'];
  const changedAt = (path) => statSync(path).mtimeMs;
  const files = sources.flatMap((name) => {
    const path = join(CONSOLE, name);
    return statSync(path).isFile()
      ? [path]
      : readdirSync(path, { recursive: true }).map((one) => join(path, one));
  });
  return Math.max(...files.map(changedAt)) < changedAt(page);
}

/** Hands the terminal to the pinned Node; signals reach the child, and its end is ours. */
function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(NODE, args, { cwd: ROOT, stdio: 'inherit' });
    const forward = (signal) => child.kill(signal);
    process.on('SIGTERM', forward);
    // npm runs this through a shell, which ends by a signal and does not pass it on.
    const parent = process.ppid;
    const orphaned = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(orphaned);
      forward('SIGTERM');
    }, 500);
    // Ctrl-C reaches the whole process group by itself: only keep this process alive until the child has ended.
    process.on('SIGINT', () => undefined);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearInterval(orphaned);
      process.off('SIGTERM', forward);
      resolve(code ?? (signal === 'SIGINT' ? 130 : 143));
    });
  });
}

async function main([name, ...rest]) {
  const command = COMMANDS[name];
  if (!command)
    throw new Error(`unknown command '${name ?? ''}'; there are: ${Object.keys(COMMANDS).join(', ')}`);
  await install();
  if (command.build) await build();
  const last = command.runs.length - 1;
  const codes = await Promise.all(
    command.runs.map((args, index) => run(index === last ? [...args, ...rest] : args)),
  );
  return codes.find((code) => code !== 0) ?? 0;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  },
);
