import { NAME_CHARACTER, VALUE_CHARACTER } from './field-syntax.js';

const VALUE = new RegExp(`^${VALUE_CHARACTER}*$`);
const NAME = new RegExp(`^${NAME_CHARACTER}+$`);
const PATH = /^\/[!-~]*$/;

/** How a request is framed and routed is not a caller's to say. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'expect'],
  ...['content-length', 'transfer-encoding'],
]);
/** Names that were judged; the few that a caller uses, however many requests it makes. */
const goodNames = new Set<string>();
const MAX_GOOD_NAMES = 64;

function judgeName(name: string): void {
  if (!NAME.test(name) || RESERVED.has(name.toLowerCase())) throw new TypeError('invalid header name');
  if (goodNames.size < MAX_GOOD_NAMES) goodNames.add(name);
}

/**
 * Request line and header fields of one POST, with the empty line behind them. `host` as the URL has it; `headers` is
 * flat: name, value, name, value, …. Throws a `TypeError` for what cannot be sent; its message holds no value.
 */
export function requestHead(
  host: string,
  path: string,
  headers: readonly string[],
  bodyBytes: number,
): string {
  if (!PATH.test(path)) throw new TypeError('invalid request path');
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const value = headers[at + 1];
    if (!goodNames.has(name)) judgeName(name);
    if (value === undefined || !VALUE.test(value)) throw new TypeError(`invalid ${name} header`);
    head += `${name}: ${value}\r\n`;
  }
  return `${head}content-length: ${bodyBytes}\r\n\r\n`;
}
