/** One thing that the doctor looked at. */
export interface Check {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'fault' | 'skipped';
  readonly found: string;
  readonly fix?: string;
}

export const ok = (check: string, found: string): Check => ({ check, state: 'ok', found });

export function fault(check: string, found: string, fix: string): Check {
  return { check, state: 'fault', found, fix };
}
