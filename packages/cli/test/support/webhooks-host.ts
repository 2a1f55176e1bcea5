// Runs command lines one after the other, as the program does, in one process that has loaded it once.
import { on } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { run } from '../../src/program.js';
import type { CommandLine, Ended } from './run-webhooks.js';

async function runHere({ args, env }: CommandLine): Promise<Ended> {
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  // As a terminal of this width has it.
  Object.defineProperty(process.stdout, 'columns', { value: Number(env['COLUMNS']), configurable: true });
  const said = { out: '', err: '' };
  process.stdout.write = (text) => Boolean((said.out += String(text)));
  process.stderr.write = (text) => Boolean((said.err += String(text)));
  const code = await run(args);
  // A new process has no open connection.
  for (const { globalAgent } of [http, https]) globalAgent.destroy();
  return { ...said, code };
}

for await (const [line] of on(process, 'message')) process.send?.(await runHere(line as CommandLine));
