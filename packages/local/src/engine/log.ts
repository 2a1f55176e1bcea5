/** Receives one finished line of text, without a line break. */
export type Log = (line: string) => void;

const FIRST_NOTICE_MS = 2_000;
const NEXT_NOTICE_MS = 5_000;

/** Runs `work`; when it takes longer than two seconds, says so, says it again every five, and says when it is done. */
export async function withProgress<T>(log: Log, title: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(0);
  let timer = setTimeout(notice, FIRST_NOTICE_MS);
  let notices = 0;
  function notice(): void {
    notices += 1;
    log(`${title} … ${seconds()} s`);
    timer = setTimeout(notice, NEXT_NOTICE_MS);
  }
  try {
    const result = await work();
    if (notices > 0) log(`${title}: done in ${seconds()} s`);
    return result;
  } finally {
    clearTimeout(timer);
  }
}
