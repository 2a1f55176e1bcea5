import { eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueClient } from './client-certificates.js';
import { BY_ALERT, endAll, needs, outcomesAt, ownFiles, postWith } from './demanding.js';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'client', 'examples');
const RECIPES = readFileSync(join(EXAMPLES, 'mutual-tls.md'), 'utf8');
const dir = mkdtempSync(join(tmpdir(), 'mutual-tls-'));
const children: ChildProcess[] = [];
let behind: Endpoint;
let port: number;

beforeEach(async () => {
  behind = await startEndpoint({ plain: true });
  const free = await startEndpoint();
  ({ port } = free);
  await free.close();
});
afterEach(async () => {
  await endAll(children);
  await behind.close();
});

/** The recipe in this language, as a file with the names and ports of the test; `around` has `RECIPE` in its place. */
async function writeRecipe(language: string, file: string, around = 'RECIPE'): Promise<string> {
  const [, recipe = ''] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(RECIPES) ?? [];
  const { certFile, keyFile, caFile } = await ownFiles();
  const own = recipe
    .replace('/etc/hook/fullchain.pem', certFile)
    .replace('/etc/hook/key.pem', keyFile)
    .replace('/etc/hook/webhooks-ca.pem', caFile)
    .replace('hook.example.com', 'localhost')
    .replace('8443', String(port))
    .replace('8080', String(behind.port));
  writeFileSync(join(dir, file), around.replace('RECIPE', own));
  return join(dir, file);
}

async function start(command: string, ...args: readonly string[]): Promise<void> {
  children.push(spawn(command, args, { cwd: dir, stdio: 'ignore' }));
  await eventually(
    async () => expect(await postWith(await issueClient(), port)).toMatchObject({ kind: 'responded' }),
    { timeoutMs: 20_000 },
  );
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
const NGINX = `daemon off; master_process off; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
events { worker_connections 64; }
http {
  access_log off;
  ${TEMPORARY.map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
RECIPE}`;

needs('nginx', '-v')('the recipe for nginx', () => {
  it('accepts certificates of the authority, and responds with 400 to everybody else', async () => {
    await start('nginx', '-p', dir, '-c', await writeRecipe('nginx', 'nginx.conf', NGINX));
    const refused = { none: 400, 'an expired one': 400, 'one of another authority': 400 };
    expect(await outcomesAt(port)).toEqual({ ours: 200, ...refused });
    expect(behind.stats().arrivals).toBeGreaterThan(0);
  });
});

// No port 80, no port for administration, and nothing is kept.
const CADDY = `{\n  admin off\n  auto_https disable_redirects\n  storage file_system ${dir}\n}\nRECIPE`;

needs('caddy', 'version')('the recipe for Caddy', () => {
  it('accepts certificates of the authority only', async () => {
    const file = await writeRecipe('caddyfile', 'Caddyfile', CADDY);
    await start('caddy', 'run', '--config', file, '--adapter', 'caddyfile');
    expect(await outcomesAt(port)).toEqual({ ours: 200, ...BY_ALERT });
    expect(behind.stats().arrivals).toBeGreaterThan(0);
  }, 60_000);
});

needs('go', 'version')('the recipe for Go', () => {
  it('accepts certificates of the authority only', async () => {
    const args = ['build', '-o', join(dir, 'receiver'), await writeRecipe('go', 'receiver.go')];
    const build = spawn('go', args, { stdio: 'inherit', env: { ...process.env, GO111MODULE: 'off' } });
    expect(await once(build, 'exit')).toEqual([0, null]);
    await start(join(dir, 'receiver'));
    expect(await outcomesAt(port)).toEqual({ ours: 204, ...BY_ALERT });
  }, 240_000);
});
