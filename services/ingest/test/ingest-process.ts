import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '@webhooks/testkit';

/** The built service as a process of its own, with the bounds of its image. */
export interface IngestProcess {
  readonly url: string;
  /** One value of its metrics, asked for at its admin port. */
  metric(name: string): Promise<number>;
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../dist/src/main.js', import.meta.url));
/** The entry point of the image: it has the bounds of V8 and of the allocator. */
const RUN_NODE = fileURLToPath(new URL('../../../deploy/docker/run-node', import.meta.url));

function valueOf(line: string | undefined, member: string): number | undefined {
  const value = line === undefined ? undefined : new RegExp(`"${member}":(\\d+)`).exec(line)?.[1];
  return value === undefined ? undefined : Number(value);
}

export async function startIngestProcess(env: Readonly<Record<string, string>>): Promise<IngestProcess> {
  // Its channel ends it with this process, also when that is killed.
  const child = fork(MAIN, {
    execPath: RUN_NODE,
    execArgv: [],
    env: {
      ...{ NODE_BINARY: process.execPath, HOST: '127.0.0.1', PORT: '0', SHUTDOWN_DELAY_MS: '0' },
      ...{ ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0', ...env },
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n')));
  const portIn = (message: string, member: string): Promise<number> =>
    eventually(
      () =>
        valueOf(
          lines.find((line) => line.includes(`"message":"${message}"`)),
          member,
        ) ?? false,
      { timeoutMs: 30_000, message: `ingest says "${message}"` },
    );
  const [port, adminPort] = [await portIn('listening', 'port'), await portIn('started', 'adminPort')];
  return {
    url: `http://127.0.0.1:${port}`,
    metric: async (name) => {
      const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await response.text())?.[1]);
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
