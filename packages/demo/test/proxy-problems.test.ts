import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@webhooks/local';
import { eventually } from '@webhooks/testkit';
import { has, needs } from './tool.js';

const CONFIG = join(import.meta.dirname, '..', '..', '..', 'deploy', 'compose', 'nginx.conf');

/** The file of docker-compose.yml, with ingest at a port where nobody listens, and query-api at one that never responds. */
const configOf = (dir: string, ports: Readonly<Record<'apis' | 'console' | 'ingest' | 'queryApi', number>>) =>
  readFileSync(CONFIG, 'utf8')
    .replaceAll('/tmp/', `${dir}/`)
    .replace('/dev/stderr', `${dir}/error.log`)
    .replace('listen 8081;', `listen 127.0.0.1:${ports.apis};`)
    .replace('include /etc/nginx/listen/apis.conf;', '')
    .replace('include /etc/nginx/listen/console.conf;', `listen 127.0.0.1:${ports.console};`)
    .replace('http://ingest:8082', `http://127.0.0.1:${ports.ingest}`)
    .replace('http://query-api:8083', `http://127.0.0.1:${ports.queryApi}`)
    .replace('proxy_read_timeout 60s', 'proxy_read_timeout 200ms');

needs('nginx', has('nginx', '-v'))(
  'the proxy of docker-compose.yml responds with a problem document that says the status it has',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'proxy-'));
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const [apis, console, ingest] = [await freePort(), await freePort(), await freePort()];
    const ports = { apis, console, ingest, queryApi: (silent.address() as AddressInfo).port };
    writeFileSync(join(dir, 'nginx.conf'), configOf(dir, ports));
    const child = spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf'), '-g', 'daemon off;']);
    const url = `http://127.0.0.1:${apis}`;
    await eventually(async () => (await fetch(`${url}/healthz`)).status === 204);
    const problemAt = async (path: string) => {
      const response = await fetch(`${url}${path}`);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      const { status, title } = (await response.json()) as Readonly<Record<string, unknown>>;
      expect(status).toBe(response.status);
      return [status, title, response.headers.get('retry-after')];
    };
    expect(await problemAt('/nowhere')).toEqual([404, 'Not Found', null]);
    expect(await problemAt('/integration/v1/events')).toEqual([502, 'Bad Gateway', '5']);
    expect(await problemAt('/integration/v1/notifications')).toEqual([504, 'Gateway Timeout', '5']);
    child.kill('SIGQUIT');
    await once(child, 'exit');
    silent.close();
    rmSync(dir, { recursive: true });
  },
  20_000,
);
