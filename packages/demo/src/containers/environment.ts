import { readFileSync } from 'node:fs';
import type { DevelopmentClient } from '@webhooks/engines';
import { FILES } from './folders.js';

export const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** A variable of docker-compose.yml. Throws with its name when it is missing. */
export function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is required; see docker-compose.yml`);
  return value;
}

/** The clients that `make-keys` wrote. */
export const readClients = (): readonly DevelopmentClient[] =>
  JSON.parse(readFileSync(FILES.clients, 'utf8')) as readonly DevelopmentClient[];
