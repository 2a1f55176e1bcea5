/** One thing that the doctor looked at. */
export interface Check {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'fault' | 'skipped';
  readonly found: string;
  readonly fix?: string;
}

export const ok = (check: string, found: string): Check => ({ check, state: 'ok', found });
export const fault = (check: string, found: string, fix: string): Check => ({
  check,
  state: 'fault',
  found,
  fix,
});
