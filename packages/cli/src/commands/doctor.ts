import type { ArgumentsCamelCase, Argv, InferredOptionTypes } from 'yargs';
import { checkAddress } from '../doctor/check-address.js';
import { checkReceiver } from '../doctor/check-receiver.js';
import { checkTls } from '../doctor/check-tls.js';
import type { Check } from '../doctor/check.js';
import { Failure } from '../failure.js';
import { table, type Output } from '../output.js';
import { offline } from '../session.js';
import { VENDOR } from '../sign.js';

function urlOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new Error(`${text} is no address; write https://host/path`);
  return url;
}

const OPTIONS = {
  url: { type: 'string', coerce: urlOf, demandOption: true, describe: 'https://host/path' },
  secret: { type: 'string', describe: 'The secret that it has; better WEBHOOKS_SECRET' },
  vendor: VENDOR,
  'name-server': { type: 'string', describe: 'ADDRESS[:PORT]; default: those of this machine' },
} as const;
type Arguments = ArgumentsCamelCase<InferredOptionTypes<typeof OPTIONS>>;

async function* examine({ url, nameServer, secret, vendor }: Arguments): AsyncGenerator<Check> {
  yield* checkAddress(url, nameServer);
  yield* checkTls(url);
  yield* checkReceiver(url, secret ?? process.env['WEBHOOKS_SECRET'], vendor);
}

async function doctor({ show }: Output, args: Arguments): Promise<void> {
  const checks: Check[] = [];
  for await (const check of examine(args)) {
    checks.push(check);
    // Each check needs those before it, but for the last two.
    if (check.state === 'fault' && !/signature|replay/.test(check.check)) break;
  }
  const { origin, pathname } = args.url;
  show({ url: origin + pathname, checks }, table(checks, ['check', 'state', 'found', 'fix']));
  const fault = checks.find(({ state }) => state === 'fault');
  if (fault) throw new Failure('failed', `${origin}: ${fault.found}`, fault.fix, 'unfit-receiver');
}

export const addDoctor = (cli: Argv): Argv =>
  cli.command('doctor <url>', 'Examine a receiver with test notifications', OPTIONS, offline(doctor));
