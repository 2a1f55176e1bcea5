import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomName } from '@webhooks/testkit';

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'src', 'index.js');

const SCRIPT = `
const { createKafka, openSource } = await import(process.argv[1]);
const [brokers, groupId, topic, workMs, clientId] = process.argv.slice(2);
const kafka = createKafka({ brokers: brokers.split(','), clientId });
await openSource({
  kafka, groupId, topics: [topic],
  window: { maxInFlight: 50, maxInFlightBytes: 10_000_000 },
  handle: (record) => new Promise((resolve) => setTimeout(() => { console.log(String(record.value)); resolve(); }, Number(workMs))),
});
console.log('joined');
`;

export interface MemberProcess {
  readonly process: ChildProcess;
  readonly handled: string[];
  readonly joined: () => boolean;
}

export interface MemberProcessOptions {
  readonly groupId: string;
  readonly topic: string;
  /** Time one record takes. */
  readonly workMs: number;
  /** Default: one that nobody else has. */
  readonly clientId?: string;
  readonly onHandled?: (value: string) => void;
}

/** A member of a group in a process of its own, to be killed. Runs what is built in `dist`. */
export function spawnMember(brokers: readonly string[], options: MemberProcessOptions): MemberProcess {
  const { groupId, topic, workMs, clientId = randomName('member'), onHandled } = options;
  const script = ['--input-type=module', '-e', SCRIPT, PACKAGE];
  const args = [...script, brokers.join(), groupId, topic, `${workMs}`, clientId];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const handled: string[] = [];
  let joined = false;
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'joined') joined = true;
    else {
      handled.push(line);
      onHandled?.(line);
    }
  });
  return { process: child, handled, joined: () => joined };
}
