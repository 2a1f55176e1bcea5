import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { buildEvent } from '@webhooks/testkit';

export interface FloodOptions {
  readonly url: string;
  readonly token: string;
  /** Senders, each with one request under way at any time, whatever it was answered. */
  readonly connections: number;
  /** Events of each request. */
  readonly batch: number;
}

export interface Flood {
  /** Ids that were answered as accepted. */
  readonly accepted: ReadonlySet<string>;
  /** Answers by status; `cut` is a connection that ended without one. */
  readonly answers: Readonly<Record<string, number>>;
  /** What an answer other than 202 lacked to be a proper refusal. */
  readonly faults: readonly string[];
  bytesSent(): number;
  /** Whether this id was ever sent. */
  hasSent(id: string): boolean;
  end(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const ID = 'ID-OF-THE-EVENT';

/** Bodies whose events have ids that no other has: `<number of the body>-<index>`. */
function createBodies(batch: number): (body: number) => Buffer {
  const event = { ...buildEvent({ tenantId: 'acme', eventType: 'PIX_STATIC' }), id: ID };
  const line = `${JSON.stringify(event)}\n`;
  return (body) => {
    let index = 0;
    return Buffer.from(line.repeat(batch).replaceAll(ID, () => `${body}-${index++}`));
  };
}

function post({ url, token }: FloodOptions, agent: Agent, body: Buffer): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const headers = {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      'content-length': body.byteLength,
    };
    const sent = request(`${url}/integration/v1/events`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.once('error', () => resolve(undefined));
    });
    sent.once('error', () => resolve(undefined));
    sent.end(body);
  });
}

/** Posts batches over many connections at once, each the next one as soon as it was answered, until it is ended. */
export function startFlood(options: FloodOptions): Flood {
  const { connections, batch } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const bodyOf = createBodies(batch);
  const accepted = new Set<string>();
  const answers: Record<string, number> = {};
  const faults: string[] = [];
  let [bodies, bytes, ended] = [0, 0, false];

  const note = (answer: Answer | undefined): void => {
    const kind = answer === undefined ? 'cut' : String(answer.status);
    answers[kind] = (answers[kind] ?? 0) + 1;
    if (answer === undefined) return;
    if (answer.status === 202) {
      const { results } = JSON.parse(answer.text) as { results: { id: string; status: string }[] };
      for (const { id, status } of results) if (status === 'accepted') accepted.add(id);
      return;
    }
    if (answer.headers['retry-after'] === undefined) faults.push(`${answer.status} without Retry-After`);
  };
  const sendOn = async (): Promise<void> => {
    while (!ended) {
      const body = bodyOf(bodies++);
      bytes += body.byteLength;
      note(await post(options, agent, body));
    }
  };
  const sending = Promise.all(Array.from({ length: connections }, sendOn));
  return {
    accepted,
    answers,
    faults,
    bytesSent: () => bytes,
    hasSent: (id) => {
      const [, body, index] = /^(\d+)-(\d+)$/.exec(id) ?? [];
      return Number(body) < bodies && Number(index) < batch;
    },
    end: async () => {
      ended = true;
      await sending;
      agent.destroy();
    },
  };
}
