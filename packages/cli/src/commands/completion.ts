import yargs, { type Argv } from 'yargs';
import { offline } from '../session.js';

const FISH = `complete --command webhooks --no-files --arguments '(webhooks --get-yargs-completions (commandline --tokenize --cut-at-cursor) "$(commandline --current-token)")'`;

function printScript(shell: string): void {
  if (shell === 'fish') return void process.stdout.write(`${FISH}\n`);
  // yargs chooses between its two scripts by this variable.
  process.env['SHELL'] = shell;
  yargs([]).scriptName('webhooks').showCompletionScript();
}

export const addCompletion = (cli: Argv): Argv =>
  cli.command(
    'completion <shell>',
    'Print the completion script of a shell',
    (own) =>
      own
        .positional('shell', { choices: ['bash', 'zsh', 'fish'] as const, demandOption: true })
        .epilogue('bash, zsh: source <(webhooks completion bash)\nfish: webhooks completion fish | source'),
    offline((_output, { shell }) => printScript(shell)),
  );
