import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import yargs, { type Argv } from 'yargs';
import { addAlerts } from './commands/alerts.js';
import { addApply } from './commands/apply.js';
import { addDeliveries } from './commands/deliveries.js';
import { addDoctor } from './commands/doctor.js';
import { addFind } from './commands/find.js';
import { addListen } from './commands/listen.js';
import { addLogin } from './commands/login.js';
import { addOverview } from './commands/overview.js';
import { addPayments } from './commands/payments.js';
import { addPolicy, addWebhooks } from './commands/webhooks.js';
import { addRedeliveries } from './commands/redeliveries.js';
import { addStatement } from './commands/statement.js';
import { addTrigger } from './commands/trigger.js';
import { reportFailure, usage } from './failure.js';
import { offline } from './session.js';

const FISH = `complete --command webhooks --no-files --arguments '(webhooks --get-yargs-completions (commandline --tokenize --cut-at-cursor) "$(commandline --current-token)")'`;

function printScript(shell: string): void {
  if (shell === 'fish') return void process.stdout.write(`${FISH}\n`);
  // yargs chooses between its two scripts by this variable.
  process.env['SHELL'] = shell;
  yargs([]).scriptName('webhooks').showCompletionScript();
}

const addCompletion = (cli: Argv): Argv =>
  cli.command(
    'completion <shell>',
    'Print the completion script of a shell',
    (own) =>
      own
        .positional('shell', { choices: ['bash', 'zsh', 'fish'] as const, demandOption: true })
        .epilogue('bash, zsh: source <(webhooks completion bash)\nfish: webhooks completion fish | source'),
    offline((_output, { shell }) => printScript(shell)),
  );

const GROUPS = [
  ...[addLogin, addListen, addTrigger, addWebhooks, addPolicy, addApply, addAlerts],
  ...[addFind, addPayments, addDeliveries, addRedeliveries, addOverview, addStatement],
  ...[addDoctor, addCompletion],
];

/** The package.json of this package. yargs would look in the caller's folder. */
const manifest = readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8');
const { version } = JSON.parse(manifest) as { readonly version: string };

/** Throws for an empty value, and for a number that is no count. An empty id would address the whole list. */
function checkValues(args: object): true {
  for (const [name, value] of Object.entries(args))
    if (value === '' || (typeof value === 'number' && !(Number.isSafeInteger(value) && value > 0)))
      throw usage(`${name} is empty, or no whole number from 1`, 'see webhooks --help');
  return true;
}

/** Runs one command line; resolves with the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  // A secret may begin with a hyphen and would then be read as an option, so it is joined to its option by `=`.
  const at = argv.indexOf('--client-secret');
  const joined = at === -1 ? argv : argv.toSpliced(at, 2, argv.slice(at, at + 2).join('='));
  const cli = yargs(joined)
    .scriptName('webhooks')
    .usage('$0 <command>\n\nReceive, find and repair webhooks of instant payments.')
    .option('json', { type: 'boolean', global: true, describe: 'Print JSON, for scripts' })
    .option('profile', { type: 'string', global: true, requiresArg: true, describe: 'The login to use' })
    .parserConfiguration({ 'duplicate-arguments-array': false })
    .version(version)
    .demandCommand(1, 'a command is missing')
    .strict()
    .check(checkValues)
    .wrap(100)
    .exitProcess(false)
    .fail((message: string, error: Error | undefined) => {
      throw error === undefined || error.name === 'YError' ? usage(message, 'see webhooks --help') : error;
    });
  for (const add of GROUPS) add(cli);
  try {
    await cli.parseAsync();
    return 0;
  } catch (error) {
    return reportFailure(error, argv.includes('--json'));
  }
}
