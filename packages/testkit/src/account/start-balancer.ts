import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, spawnGuarded } from '@webhooks/local';
import { eventually } from '../eventually.js';
import { DATA_DIR } from './command-line.js';

/** An instance of an API, as `host:port`. */
export interface Backend {
  readonly service: string;
  readonly host: string;
}

/** Throws when there is no nginx, and says how to install it. */
export function requireNginx(): void {
  if (spawnSync('nginx', ['-v']).status !== 0)
    throw new Error('nginx is not on the PATH; install it, for example: apt-get install nginx-light');
}

/** The rules of compose: which path belongs to which service. */
const RULES = join(DATA_DIR, '..', 'deploy', 'compose', 'nginx.conf');
const CALL = '$status $request_method $uri by $upstream_addr after $request_time s at $time_iso8601';

/** Returns the configuration of compose for these instances; files lie in `dir`. `/version` tells which one is in force. */
function configurationOf(backends: readonly Backend[], dir: string, port: number, version: number): string {
  const groups = [...Map.groupBy(backends, ({ service }) => service)].map(
    ([service, own]) =>
      `upstream ${service} { ${own.map(({ host }) => `server ${host};`).join(' ')} keepalive 32; }`,
  );
  // A reload ends idle connections of callers, and the next call would meet that: none is kept.
  const http = `log_format call '${CALL}'; access_log ${dir}/calls.log call; keepalive_timeout 0; ${groups.join('\n')}`;
  const rules = readFileSync(RULES, 'utf8')
    .replaceAll('/tmp/', `${dir}/`)
    .replace('/dev/stderr', `${dir}/error.log`)
    .replace('access_log off;', http)
    // Accepted with its request: a reload closes connections whose request has not come yet.
    .replace(/listen \d+;\s+include \S+;/, `listen 127.0.0.1:${port} deferred;`)
    // Nobody calls the console here.
    .replace(/include \S+console.conf;/, `listen unix:${dir}/console.sock;`)
    .replace('location = /healthz {', `location = /version { access_log off; return 200 ${version}; } $&`)
    .replaceAll(/http:\/\/(config-api|ingest|query-api):\d+/g, 'http://$1');
  return `daemon off;\n${rules}`;
}

/** Starts nginx in front of the APIs, by the rules of compose. */
export async function startBalancer(dir: string, first: readonly Backend[]) {
  mkdirSync(dir, { recursive: true });
  const [port, file, logFile] = [await freePort(), join(dir, 'nginx.conf'), join(dir, 'nginx.log')];
  const url = `http://127.0.0.1:${port}`;
  let version = 0;
  const write = (backends: readonly Backend[]): void =>
    writeFileSync(file, configurationOf(backends, dir, port, (version += 1)));
  const untilInForce = (): Promise<unknown> =>
    eventually(async () => Number(await (await fetch(`${url}/version`)).text()) === version, {
      message: `nginx has read its configuration; see ${logFile}`,
    });
  write(first);
  const nginx = spawnGuarded('nginx', ['-p', dir, '-c', file], { cwd: dir, logFile, env: {} });
  await untilInForce();
  return {
    url,
    /** Sends further calls to these instances alone; calls under way go on. Resolves when nginx does so. */
    route: async (backends: readonly Backend[]): Promise<void> => {
      write(backends);
      process.kill(nginx.pid, 'SIGHUP');
      await untilInForce();
    },
    /** Returns a line for each call that has ended, which begins with its status. */
    calls: () => readFileSync(join(dir, 'calls.log'), 'utf8').split('\n').filter(Boolean),
    stop: () => nginx.stop(),
  };
}
export type Balancer = Awaited<ReturnType<typeof startBalancer>>;
