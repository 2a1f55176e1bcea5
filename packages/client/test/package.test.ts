import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { ScriptedService } from './support/scripted-service.js';

const run = promisify(execFile);
const CLIENT = join(import.meta.dirname, '..');
const WORKSPACE = join(CLIENT, '..', '..', 'node_modules');
const ATTW = join(CLIENT, 'node_modules', '@arethetypeswrong', 'cli', 'dist', 'index.js');
const TSC = join(WORKSPACE, 'typescript', 'bin', 'tsc');
/** Packing compiles twice, and installing needs a registry. */
const LONG_MS = 300_000;

let folder: string;
let tarball: string;
let project: string;
let service: ScriptedService;

const link = (target: string, name: string): void => {
  mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true });
  symlinkSync(join(target, name), join(project, 'node_modules', name));
};

/** Without a registry the dependencies are the workspace's own, and the package is unpacked as npm would. */
function installOffline(): void {
  process.stdout.write('no npm registry: the dependencies of the packed SDK are linked, not installed\n');
  const target = join(project, 'node_modules', '@webhooks', 'client');
  mkdirSync(target, { recursive: true });
  expect(spawnSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', target]).status).toBe(0);
  for (const name of ['axios', 'standardwebhooks']) link(join(CLIENT, 'node_modules'), name);
}

beforeAll(async () => {
  service = await ScriptedService.open();
  folder = mkdtempSync(join(tmpdir(), 'packed-sdk-'));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: CLIENT });
  tarball = join(folder, basename(stdout.trim()));
  project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0', '--loglevel=error'];
  const installed = spawnSync('npm', ['install', ...flags, tarball], { cwd: project, encoding: 'utf8' });
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET/.test(installed.stderr)) installOffline();
  else expect(installed).toMatchObject({ status: 0 });
}, LONG_MS);
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

const USE = `
const [, , baseUrl] = process.argv;
const clientOf = (baseUrl) =>
  createClient({ baseUrl, credentials: { tokenEndpoint: baseUrl + '/token', clientId: 'a', clientSecret: 'b' }, maxRetries: 0 });
clientOf('http://127.0.0.1:9').list().catch((error) => {
  console.log(error instanceof ConnectionError, error.code);
  return clientOf(baseUrl).list();
}).then(({ results }) => console.log(results));
try { verifyNotification({}, '', 'whsec_AAAA'); } catch (error) { console.log(error instanceof NotificationError, error.reason); }
`;
const NAMES = '{ ConnectionError, NotificationError, createClient, verifyNotification }';
const OUTPUT = 'true missing-headers\ntrue ECONNREFUSED\n1\n';
const HEADS = {
  mjs: `import ${NAMES} from '@webhooks/client';`,
  cjs: `const ${NAMES} = require('@webhooks/client');`,
} as const;

/** The output of a program in the project. */
async function outputOf(file: string): Promise<string> {
  const { stdout } = await run(process.execPath, [file, service.url], { cwd: project });
  return stdout;
}

const TYPED = `
const client: Client = createClient({ baseUrl: '', credentials: { tokenEndpoint: '', clientId: '', clientSecret: '' } });
export const state = async (n: Notification): Promise<string | undefined> =>
  n.eventType === 'PIX_REVERSAL' ? n.data.rtrId : (await client.transaction(n.data.endToEndId)).status;
// @ts-expect-error The types are there: this is no event type.
export const wrong = client.list({ eventType: 'PIX_NONE' });
`;

describe('the packed SDK, installed into an empty project,', () => {
  it.each(['mjs', 'cjs'] as const)('works in a file of type %s', async (type) => {
    writeFileSync(join(project, `use.${type}`), HEADS[type] + USE);
    expect(await outputOf(`use.${type}`)).toBe(OUTPUT);
  });

  it.each([
    ['mjs', 'esm'],
    ['mjs', 'cjs'],
    ['cjs', 'esm'],
    ['cjs', 'cjs'],
  ] as const)('works in one file that esbuild makes of a %s as %s', async (type, format) => {
    const source = join(project, `bundled-${format}.${type}`);
    writeFileSync(source, HEADS[type] + USE);
    const outfile = join(folder, `${type}.${format === 'esm' ? 'mjs' : 'cjs'}`);
    await build({ entryPoints: [source], outfile, format, bundle: true, platform: 'node' });
    expect(await outputOf(outfile)).toBe(OUTPUT);
    process.stdout.write(`the SDK of ${type}, bundled as ${format}: ${statSync(outfile).size} bytes\n`);
  });

  it('works in TypeScript, as an ES module and as CommonJS, with every declaration checked', async () => {
    link(WORKSPACE, '@types/node');
    const head = `import { createClient } from '@webhooks/client';\nimport type { Client, Notification } from '@webhooks/client';`;
    for (const file of ['use.mts', 'use.cts']) writeFileSync(join(project, file), head + TYPED);
    const compilerOptions = { strict: true, module: 'nodenext', noEmit: true, types: ['node'] };
    const config = { compilerOptions, files: ['use.mts', 'use.cts'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    await run(process.execPath, [TSC, '-p', '.', '--pretty', 'false'], { cwd: project });
  });

  it('brings no type and no module of this workspace along', () => {
    const shipped = spawnSync('tar', ['-xzOf', tarball], { encoding: 'utf8' }).stdout;
    expect(shipped).toContain('verifyNotification');
    expect(shipped.match(/(from |require\(|import\()\s*['"]@webhooks\/(?!client['"])[a-z]+/g)).toBeNull();
  });

  it('passes publint and arethetypeswrong', async () => {
    const pkg = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8')) as Record<string, unknown>;
    const packed = readFileSync(tarball);
    const { messages } = await publint({
      pack: { tarball: packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.byteLength) },
      strict: true,
    });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
    await run(process.execPath, [ATTW, tarball, '--no-color'], { cwd: folder });
  });
});
