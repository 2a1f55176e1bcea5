import { readdir, readFile } from 'node:fs/promises';
import { eventually } from './eventually.js';

/** The state of each thread of a process, as one letter; none where the kernel does not tell (no `/proc`). */
async function threadStates(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder).catch(() => []);
  const stats = await Promise.all(threads.map((thread) => readFile(`${folder}/${thread}/stat`, 'latin1')));
  // Behind the name in brackets, which may itself hold brackets.
  return stats.map((stat) => stat.charAt(stat.lastIndexOf(')') + 2));
}

/**
 * Sends SIGSTOP to a process of ours and waits until it has taken effect: the signal goes to one thread, which stops the
 * others once it gets a turn, and on a machine that is full they go on answering until then.
 */
export async function stopProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await eventually(async () => (await threadStates(pid)).every((state) => state === 'T'), {
    message: `process ${pid} has stopped`,
  });
}
