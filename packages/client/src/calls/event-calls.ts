import type { AuthorizedCall } from './token-source.js';
import type { RequestOptions } from './call.js';
import type { EventInput, EventResult } from '../types/event-types.js';
import { parseAccepted, parseResults } from './parse-response.js';
import { ProblemError } from './call-errors.js';

/** An event is durable only with 202. */
const POST = { method: 'POST', url: '/integration/v1/events', statuses: [202] } as const;

/** When no event was accepted, the response is a problem (RFC 9457) that holds the same list. */
async function resultsOf(
  post: Promise<{ readonly results: readonly EventResult[] }>,
): Promise<readonly EventResult[]> {
  try {
    return (await post).results;
  } catch (error) {
    const refused = error instanceof ProblemError ? parseResults(error.problem.members) : undefined;
    if (refused === undefined) throw error;
    return refused.results;
  }
}

/** Calls of payment systems, which report events. */
export type EventCalls = ReturnType<typeof createEventCalls>;

export function createEventCalls(ingest: AuthorizedCall) {
  const lines = { 'content-type': 'application/x-ndjson' };
  return {
    /** Resolves with the event's id once it is durable. */
    postEvent: async (data: EventInput, options?: RequestOptions) =>
      (await ingest({ ...POST, data, parse: parseAccepted, options })).id,
    /** Posts at most 1,000 events and 1 MiB. Resolves with the result of each, even when none was accepted. */
    postEvents: (data: readonly EventInput[], options?: RequestOptions) =>
      resultsOf(ingest({ ...POST, data, parse: parseResults, options })),
    /** As `postEvents`, for NDJSON text of one event a line, which is sent unchanged. Empty lines do not count. */
    postEventLines: (data: string, options?: RequestOptions) =>
      resultsOf(ingest({ ...POST, data, headers: lines, parse: parseResults, options })),
  };
}
