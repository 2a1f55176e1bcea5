import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@webhooks/client';
import { emptyTestEngines, startStack } from '@webhooks/local';
import type { Stack } from '@webhooks/local';
import { clientFor } from '@webhooks/testkit/account';

export interface TestStack {
  readonly stack: Stack;
  readonly dataDir: string;
  /** The lines that the stack logged. */
  readonly said: readonly string[];
  readonly clientOf: (tenantId: string) => Client;
  /** Stops everything and removes the data. */
  readonly stop: () => Promise<void>;
}

export interface TestStackOptions {
  /** Whether query-api runs too, which delivers nothing; default: no. */
  readonly withQueryApi?: boolean;
  /** Whether it has engines of its own, to be killed or filled; default: the emptied ones of this jest worker. */
  readonly withOwnEngines?: boolean;
}

/** A stack of real processes on free ports, with a data folder of its own. */
export async function startTestStack(
  overrides: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
  { withQueryApi = false, withOwnEngines = false }: TestStackOptions = {},
): Promise<TestStack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stack-'));
  const said: string[] = [];
  const stack = await startStack({
    ...(withOwnEngines ? {} : await emptyTestEngines()),
    dataDir,
    fixedPorts: false,
    without: withQueryApi ? [] : ['query-api'],
    overrides,
    log: (line) => said.push(line),
  });
  return {
    stack,
    dataDir,
    said,
    clientOf: (tenantId) => clientFor(stack.description(), tenantId),
    stop: async () => {
      await stack.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
