import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { memoryOf } from '../../src/fuzz/fuzz-world.js';

it('memory is told of processes that are there, and of no other', async () => {
  const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  const { pid = 0 } = ended;
  await once(ended, 'exit');
  const memory = memoryOf({ own: process.pid, ended: pid });
  expect([...memory.keys()]).toEqual(['own']);
  expect(memory.get('own')).toBeGreaterThan(1);
});
