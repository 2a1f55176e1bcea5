import { freePort } from '@webhooks/engines';
import { clientFor } from '@webhooks/ledger';
import { askInTurn } from '../load/ask-in-turn.js';
import { askOpenly, askedOf, rateOf } from '../load/ask-openly.js';
import type { Answers } from '../load/ask-openly.js';
import { openChanger } from '../load/change-webhooks.js';
import type { Changeable } from '../load/change-webhooks.js';
import { monotonicMicros } from '../measure/clock.js';
import { beginSystemUsage } from '../measure/system-usage.js';
import { VoidRun } from '../measure/void-run.js';
import { atMost } from '../report/figure.js';
import type { Figure } from '../report/figure.js';
import { registerEndpoints } from '../world/world.js';
import type { World } from '../world/world.js';
import { othersFigure } from './run-figures.js';
import type { Stage } from './scenario.js';

export const QUIET = 'overload-quiet';
/** Writes of one tenant take turns: several show what the instance does. */
export const NOISY: readonly string[] = Array.from({ length: 8 }, (_, index) => `overload-noisy-${index}`);

const MIB = 1_048_576;
const CONFIG_API = 'config-api';
/** The same without limits for tenants. */
const UNLIMITED = 'config-api-unlimited';
const TIMES = 10;
const CLOSED_UNDER_WAY = 32;
const WARM_UP = 500;
const CONNECTIONS = 200;
const MAX_UNDER_WAY = 5_000;
const QUIET_PER_SECOND = 20;
/** What the quiet tenant may wait, ten times the load beside it. */
const QUIET_P99_MS = 1_000;
const GROWN_MIB = 100;

interface Bench {
  readonly stage: Stage;
  readonly world: World;
  readonly noisy: readonly Changeable[];
  readonly quiet: Changeable;
  /** Changes a second of one instance. */
  readonly perSecond: number;
  /** p99 of the quiet tenant's changes while nobody else makes any, in microseconds. */
  readonly quietAlone: number;
}

async function registerAll(world: World, tenants: readonly string[]): Promise<readonly Changeable[]> {
  const endpoints = await registerEndpoints(
    world,
    tenants.map((tenantId) => ({ path: `/${tenantId}`, tenantId })),
  );
  return Promise.all(
    endpoints.map(async ({ ref, origin, path, tenantId }) => {
      const client = clientFor(world.stack.clientOf(tenantId), world.stack.description());
      return { ref, endpointUrl: `${origin}${path}`, token: await client.token() };
    }),
  );
}

/** Closed loop over all noisy tenants, each answer 200: what one instance does in a second. */
async function findRate(url: string, noisy: readonly Changeable[], count: number): Promise<number> {
  const changer = openChanger(url, noisy, CLOSED_UNDER_WAY);
  try {
    const ask = async (): Promise<boolean> => (await changer.change()) === '200';
    const underWay = CLOSED_UNDER_WAY;
    await askInTurn('a change', ask, { from: 0, to: WARM_UP, underWay });
    const startedAt = monotonicMicros();
    await askInTurn('a change', ask, { from: WARM_UP, to: WARM_UP + count, underWay });
    return (count * 1_000_000) / (monotonicMicros() - startedAt);
  } finally {
    await changer.close();
  }
}

async function askQuietly(url: string, quiet: Changeable, seconds: number): Promise<Answers> {
  const changer = openChanger(url, [quiet], CLOSED_UNDER_WAY);
  try {
    const plan = { perSecond: QUIET_PER_SECOND, seconds, maxUnderWay: MAX_UNDER_WAY };
    const answers = await askOpenly(() => changer.change(), plan);
    const served = answers.byWord.get('200')?.count ?? 0;
    if (served !== askedOf(answers) || answers.givenUp > 0)
      throw new VoidRun(`${askedOf(answers) - served} changes of the quiet tenant were not made`);
    return answers;
  } finally {
    await changer.close();
  }
}

const p99Of = (answers: Answers, word: string): number => answers.byWord.get(word)?.percentile(0.99) ?? NaN;

function figuresOf(noisy: Answers, quiet: Answers, bench: Bench): readonly Figure[] {
  const quietP99 = p99Of(quiet, '200');
  const strange = [...noisy.byWord].filter(([word]) => !['200', '429'].includes(word));
  const ms = (micros: number): number => micros / 1_000;
  return [
    { name: 'offered each second', value: bench.perSecond * TIMES, unit: '1/s' },
    { name: 'answered 200 each second', value: rateOf(noisy, '200'), unit: '1/s' },
    { name: 'answered 429 each second', value: rateOf(noisy, '429'), unit: '1/s' },
    {
      name: 'answered otherwise, or not at all',
      value: strange.reduce((sum, [, { count }]) => sum + count, 0),
      unit: '',
      bar: atMost(0),
    },
    { name: 'given up by the generator', value: noisy.givenUp, unit: '' },
    { name: 'a 429, p99', value: ms(p99Of(noisy, '429')), unit: 'ms' },
    { name: 'quiet tenant alone, p99', value: ms(bench.quietAlone), unit: 'ms' },
    { name: 'quiet tenant beside it, p99', value: ms(quietP99), unit: 'ms', bar: atMost(QUIET_P99_MS) },
    { name: 'ratio of the two', value: quietP99 / bench.quietAlone, unit: '×' },
  ];
}

/** Ten times the rate to one instance, by some tenants; a quiet one changes something 20 times a second meanwhile. */
async function offerTooMuch(
  run: string,
  { name, url, tenants }: { readonly name: string; readonly url: string; readonly tenants: number },
  bench: Bench,
): Promise<void> {
  const { stage, world } = bench;
  await stage.run(run, async () => {
    const changer = openChanger(url, bench.noisy.slice(0, tenants), CONNECTIONS);
    try {
      const endUsage = beginSystemUsage(world.pids());
      const plan = { perSecond: bench.perSecond * TIMES, maxUnderWay: MAX_UNDER_WAY };
      const { seconds } = stage.sizes;
      const [noisy, quiet] = await Promise.all([
        askOpenly(() => changer.change(), { ...plan, seconds }),
        askQuietly(url, bench.quiet, seconds),
      ]);
      const { usage: processes, othersPercent } = endUsage();
      const grown = processes.find((process) => process.name === name)?.grownBytes ?? NaN;
      stage.report({
        run,
        figures: [
          ...figuresOf(noisy, quiet, bench),
          { name: `growth of ${name}`, value: grown / MIB, unit: 'MiB', bar: atMost(GROWN_MIB) },
          othersFigure(othersPercent),
        ],
        usage: { deliveries: askedOf(noisy), each: 'request', processes },
      });
    } finally {
      await changer.close();
    }
  });
}

/** What config-api does with ten times of what it can do. */
export async function measureChanges(stage: Stage, world: World): Promise<void> {
  const port = await freePort();
  await world.stack.fleet.startMore({
    ...{ name: UNLIMITED, like: CONFIG_API },
    env: { PORT: String(port), TENANT_REQUESTS_PER_SECOND: '0' },
  });
  const unlimited = `http://127.0.0.1:${port}`;
  const limited = world.stack.description().configApi;
  const [quiet, ...noisy] = await registerAll(world, [QUIET, ...NOISY]);
  if (!quiet) throw new Error('the quiet tenant has no webhook');
  const found = await stage.run('changes of one instance', async () => {
    const perSecond = await findRate(unlimited, noisy, stage.sizes.count);
    const alone = await askQuietly(limited, quiet, stage.sizes.seconds);
    stage.report({
      run: 'changes of one instance',
      figures: [
        { name: `changes each second, ${CLOSED_UNDER_WAY} under way`, value: perSecond, unit: '1/s' },
        { name: 'quiet tenant alone, p99', value: p99Of(alone, '200') / 1_000, unit: 'ms' },
      ],
    });
    return { perSecond, quietAlone: p99Of(alone, '200') };
  });
  if (!found) return;
  const bench = { ...found, stage, world, noisy, quiet };
  await offerTooMuch(
    'ten times as many by one tenant',
    { name: CONFIG_API, url: limited, tenants: 1 },
    bench,
  );
  await offerTooMuch(
    'ten times as many by eight tenants, without limits for tenants',
    { name: UNLIMITED, url: unlimited, tenants: NOISY.length },
    bench,
  );
}
