import { EVENT_TYPES, PATTERNS, compileCheck } from '@webhooks/contracts';
import type { UtcTime } from '@webhooks/contracts';
import { readJson } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { parseTime } from '../parse-time.js';
import { present } from '../present.js';
import { REDELIVERABLE } from './redelivery-job.js';
import type { RedeliveryFilter } from './redelivery-job.js';

export interface RedeliveryRequest {
  /** `to` is absent when the caller left it out: until now. */
  readonly filter: Omit<RedeliveryFilter, 'to'> & { readonly to?: Date };
  /** Only count what would be sent. */
  readonly dryRun: boolean;
}

interface RedeliveryBody extends Partial<Omit<RedeliveryFilter, 'from' | 'to'>> {
  readonly from: UtcTime;
  readonly to?: UtcTime;
  readonly dryRun?: boolean;
}

const checkBody = compileCheck<RedeliveryBody>({
  type: 'object',
  additionalProperties: false,
  required: ['from'],
  properties: {
    ref: { type: 'string', pattern: PATTERNS.givenRef, description: 'must be a UUID' },
    eventType: { type: 'string', enum: EVENT_TYPES },
    status: { type: 'string', enum: REDELIVERABLE },
    from: { type: 'string', format: 'utc-date-time' },
    to: { type: 'string', format: 'utc-date-time' },
    dryRun: { type: 'boolean' },
  },
});

/** A text that the schema has let pass is a time. */
const timeOf = (text: UtcTime): Date => parseTime(text) ?? new Date(text);

/** The body of `POST …/redeliveries`; `status` is `dead` when left out. Throws 422 that names what is wrong with it. */
export function readRedeliveryRequest(request: ApiRequest): RedeliveryRequest {
  const { from, to, ref, dryRun = false, status = 'dead', ...rest } = readJson(request, checkBody);
  return {
    filter: {
      ...rest,
      ...present({ ref: ref?.toLowerCase(), to: to === undefined ? undefined : timeOf(to) }),
      status,
      from: timeOf(from),
    },
    dryRun,
  };
}
