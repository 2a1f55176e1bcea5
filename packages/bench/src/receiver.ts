import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ReceiverProcess {
  readonly origin: string;
  readonly pid: number;
  /** Its append-only file. */
  readonly file: string;
  readonly stop: () => Promise<void>;
}

export async function startReceiver(
  tls: { readonly certFile: string; readonly keyFile: string },
  file: string,
): Promise<ReceiverProcess> {
  writeFileSync(file, '');
  const child = fork(join(import.meta.dirname, 'receiver-main.js'), [tls.certFile, tls.keyFile, file]);
  const [port] = (await once(child, 'message')) as [number];
  return {
    origin: `https://localhost:${port}`,
    pid: child.pid ?? 0,
    file,
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
