import { confirm } from '@clack/prompts';
import { Failure, usage } from './failure.js';

/** Passes when the reader agrees, or said so before. A script has to say it. */
export async function confirmed(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw usage('nothing was changed', 'say --yes, because nobody can be asked here');
  if ((await confirm({ message: question, initialValue: false, output: process.stderr })) !== true)
    throw new Failure('failed', 'nothing was changed');
}
