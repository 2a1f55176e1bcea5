import type { Argv } from 'yargs';
import { checkAddress } from '../doctor/check-address.js';
import { checkReceiver } from '../doctor/check-receiver.js';
import { checkTls } from '../doctor/check-tls.js';
import type { Check } from '../doctor/check.js';
import { Failure, usage } from '../failure.js';
import { table, type Output } from '../output.js';
import { offline } from '../session.js';
import { VENDOR } from '../sign.js';

interface Arguments {
  readonly url: string;
  readonly secret?: string | undefined;
  readonly vendor: string;
  readonly nameServer?: string | undefined;
}

/** Each check needs those before it; the last two need each other's signature only. */
async function* examine(url: URL, { secret, vendor, nameServer }: Arguments): AsyncGenerator<Check> {
  yield* checkAddress(url, nameServer);
  yield* checkTls(url);
  yield* checkReceiver(url, secret ?? process.env['WEBHOOKS_SECRET'], vendor);
}

async function doctor({ show }: Output, args: Arguments): Promise<void> {
  const url = URL.parse(args.url);
  if (url === null) throw usage(`${args.url} is no address`, 'write https://host/path');
  const checks: Check[] = [];
  for await (const check of examine(url, args)) {
    checks.push(check);
    if (check.state === 'fault' && !/signature|replay/.test(check.check)) break;
  }
  show({ url: url.origin, checks }, table(checks, ['check', 'state', 'found', 'fix']));
  const fault = checks.find(({ state }) => state === 'fault');
  if (fault) throw new Failure('failed', `${url.origin}: ${fault.found}`, fault.fix, 'unfit-receiver');
}

export const addDoctor = (cli: Argv): Argv =>
  cli.command(
    'doctor <url>',
    'Examine a receiver with test notifications',
    (own) =>
      own
        .positional('url', { type: 'string', demandOption: true, describe: 'https://host/path' })
        .option('secret', { type: 'string', describe: 'The secret that it has; better WEBHOOKS_SECRET' })
        .option('vendor', VENDOR)
        .option('name-server', {
          type: 'string',
          describe: 'ADDRESS[:PORT]; default: those of this machine',
        }),
    offline(doctor),
  );
