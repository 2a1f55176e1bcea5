import type { ChildProcess } from 'node:child_process';

interface Report {
  readonly kind: string;
}

/**
 * The next report of one kind from a process that we forked. Rejects with the words of a `failed` report, when the process
 * ends before, or at the deadline.
 */
export function reportOf<R extends Report, K extends R['kind']>(
  child: ChildProcess,
  kind: K,
  deadlineMs: number,
): Promise<Extract<R, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      act();
    };
    const fail = (why: string): void => settle(() => reject(new Error(`a process of the bench ${why}`)));
    const onMessage = (report: R & { readonly why?: string }): void => {
      if (report.kind === kind) settle(() => resolve(report as Extract<R, { kind: K }>));
      else if (report.kind === 'failed') fail(`failed: ${report.why ?? 'it did not say why'}`);
    };
    const onExit = (): void => fail(`ended while ${kind} was waited for`);
    const timer = setTimeout(() => fail(`did not say ${kind} within ${deadlineMs / 1_000} s`), deadlineMs);
    child.on('message', onMessage);
    child.once('exit', onExit);
  });
}
