import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import yargs, { type Argv } from 'yargs';
import { addAlerts } from './commands/alerts.js';
import { addApply } from './commands/apply.js';
import { addCanary } from './commands/canary.js';
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

/** yargs completes; the shells ask it by these scripts. Descriptions are for zsh alone. */
const COMPLETIONS = {
  bash: `_webhooks() { COMPREPLY=($(compgen -W "$(SHELL=bash webhooks --get-yargs-completions "\${COMP_WORDS[@]}")" -- "\${COMP_WORDS[COMP_CWORD]}")); }; complete -o default -F _webhooks webhooks`,
  zsh: `_webhooks() { local reply=("\${(@f)$(SHELL=zsh webhooks --get-yargs-completions "\${words[@]}")}"); _describe values reply || _default; }; compdef _webhooks webhooks`,
  fish: `complete --command webhooks --no-files --arguments '(SHELL=fish webhooks --get-yargs-completions (commandline --tokenize --cut-at-cursor) "$(commandline --current-token)")'`,
} as const;

const addCompletion = (cli: Argv): Argv =>
  cli.command(
    'completion <shell>',
    'Print the completion script of a shell',
    (own) =>
      own
        .positional('shell', { choices: ['bash', 'zsh', 'fish'] as const, demandOption: true })
        .epilogue('bash, zsh: source <(webhooks completion bash)\nfish: webhooks completion fish | source'),
    offline(({ show }, { shell }) => {
      show({ script: COMPLETIONS[shell] }, COMPLETIONS[shell]);
    }),
  );

const GROUPS = [
  ...[addLogin, addListen, addTrigger, addWebhooks, addPolicy, addApply, addAlerts],
  ...[addFind, addPayments, addDeliveries, addRedeliveries, addOverview, addStatement],
  ...[addDoctor, addCanary, addCompletion],
];

/** The package.json of this package. yargs would look in the caller's folder. */
const manifest = readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8');
const { version } = JSON.parse(manifest) as { readonly version: string };

/** Returns what is wrong with the values: an empty one would address the whole list, and of a repeated one only the last would count. */
function faultOf(args: object, names: readonly string[]): string | undefined {
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) return `--${repeated} is given twice`;
  const wrong = Object.entries(args).find(
    ([, value]) => value === '' || (typeof value === 'number' && !(Number.isSafeInteger(value) && value > 0)),
  );
  return wrong && `${wrong[0]} is empty, or no whole number from 1`;
}

/** Runs one command line; resolves with the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  // A secret may begin with a hyphen and would then be read as an option, so it is joined to its option by `=`.
  const at = argv.indexOf('--client-secret');
  const joined = at === -1 ? argv : argv.toSpliced(at, 2, argv.slice(at, at + 2).join('='));
  const { tokens } = parseArgs({ args: [...joined], strict: false, tokens: true });
  const options = tokens.filter((token) => token.kind === 'option');
  const names = options.map(({ name }) => name);
  const cli = yargs(joined)
    .scriptName('webhooks')
    .usage('$0 <command>\n\nReceive, find and repair webhooks of instant payments.')
    .option('json', { type: 'boolean', global: true, describe: 'Print JSON, for scripts' })
    .option('profile', { type: 'string', global: true, requiresArg: true, describe: 'The login to use' })
    .parserConfiguration({ 'duplicate-arguments-array': false })
    .version(version)
    .demandCommand(1, 'a command is missing')
    .strict()
    .recommendCommands()
    .check((args) => faultOf(args, names) ?? true)
    .wrap(Math.min(100, process.stdout.columns || 100))
    .exitProcess(false)
    .fail((message: string, error: unknown, own) => {
      if (error instanceof Error && error.name !== 'YError') throw error;
      const help: unknown = own.help(); // text that begins with the command, whatever its type says
      const [command = ''] = /^webhooks( [a-z-]+)*/.exec(String(help)) ?? [];
      throw usage(message, `see ${command} --help`);
    });
  for (const add of GROUPS) add(cli);
  try {
    await cli.parseAsync();
    return 0;
  } catch (error) {
    return reportFailure(error, names.includes('json'));
  }
}
