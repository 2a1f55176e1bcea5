/** One answer as it came over the wire. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; the last of several. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

interface Read {
  readonly answer: HttpAnswer;
  readonly end: number;
}

const HEAD_END = '\r\n\r\n';

/** The chunks of a body from `at`, and where it ends; undefined while it is not complete. */
function readChunked(bytes: Buffer, at: number): { body: Buffer; end: number } | undefined {
  const parts: Buffer[] = [];
  for (let from = at; ;) {
    const lineEnd = bytes.indexOf('\r\n', from);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', from, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (!(size >= 0) || next > bytes.length) return undefined;
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    if (size === 0) return { body: Buffer.concat(parts), end: next };
    from = next;
  }
}

const hasNoBody = (status: number): boolean => status < 200 || status === 204 || status === 304;

function readBody(
  bytes: Buffer,
  at: number,
  headers: ReadonlyMap<string, string>,
): { body: Buffer; end: number } | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return readChunked(bytes, at);
  const end = at + Number(headers.get('content-length') ?? 0);
  return end > bytes.length ? undefined : { body: bytes.subarray(at, end), end };
}

function readOne(bytes: Buffer, at: number, isHead: boolean): Read | undefined {
  const headEnd = bytes.indexOf(HEAD_END, at);
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const from = headEnd + HEAD_END.length;
  if (isHead || hasNoBody(status)) return { answer: { status, headers, body: Buffer.alloc(0) }, end: from };
  const rest = readBody(bytes, from, headers);
  return rest && { answer: { status, headers, body: rest.body }, end: rest.end };
}

/** The complete answers in what was received, informational ones left out. */
export function parseAnswers(bytes: Buffer, isHead: boolean): readonly HttpAnswer[] {
  const answers: HttpAnswer[] = [];
  for (let at = 0; ;) {
    const read = readOne(bytes, at, isHead);
    if (!read) return answers;
    if (read.answer.status === 0 || read.answer.status >= 200) answers.push(read.answer);
    at = read.end;
  }
}
