import { randomBytes } from 'node:crypto';

/** A name nobody else uses: `<prefix>-<12 hex digits>`; valid for topics, databases, groups and tenants. */
export function randomName(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`;
}
