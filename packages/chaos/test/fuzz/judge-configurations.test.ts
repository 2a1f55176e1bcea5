import type { Client } from '@webhooks/client';
import { TOPICS } from '@webhooks/contracts';
import { FUZZ_TENANTS } from '../../src/fuzz/fuzz-world.js';
import { Notes } from '../../src/fuzz/notes.js';
import type { WrittenRecord } from '../../src/fuzz/topics/fuzz-record.js';
import { judgeConfigurations } from '../../src/fuzz/topics/judge-configurations.js';

const UNREADABLE: WrittenRecord = {
  ...{ index: 7, topic: TOPICS.configurations, partition: 0, offset: 1, key: 'a/b', headers: {} },
  value: Buffer.from('{'),
  isValid: false,
};

/** What is found when events sent to the tenant of the mutants reach these paths once a change of another one is in force. */
async function faultsWith(latePaths: (nth: number) => readonly string[]): Promise<readonly string[]> {
  let isLate = false;
  const sent: string[] = [];
  const clientOf = (tenantId: string) =>
    ({
      postEvent: () => {
        if (tenantId === FUZZ_TENANTS.attacked) isLate = true;
        else sent.push(`evt_${sent.length}`);
        return Promise.resolve(sent.at(-1) ?? '');
      },
      update: () => Promise.resolve({}),
    }) as unknown as Client;
  const notes = new Notes('topics');
  const ports = {
    ...{ clientOf, origin: 'https://localhost:1234', attackedRef: 'b', arrived: () => true },
    mutantPaths: (id: string) => (isLate ? latePaths(sent.indexOf(id)) : []),
  };
  await judgeConfigurations([UNREADABLE], 1, ports, notes);
  return notes.findings.map(({ index, what }) => `${index}: ${what}`);
}

const FOUND = ['7: something was sent for this configuration'];

it.each<[string, (nth: number) => readonly string[], readonly string[]]>([
  ['nothing', () => ['/mutant/6'], []],
  ['an event that was sent before', (nth) => (nth === 0 ? ['/mutant/7'] : []), FOUND],
  ['an event that was sent a little later', (nth) => (nth === 1 ? ['/mutant/7'] : []), FOUND],
  ['both, which is told once', () => ['/mutant/7'], FOUND],
])('a configuration that cannot be read gets late: %s', async (_, latePaths, expected) => {
  expect(await faultsWith(latePaths)).toEqual(expected);
});
