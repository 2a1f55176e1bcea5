import { NAME_CHARACTER, VALUE_CHARACTER } from './field-syntax.js';
import { SendFailure } from './send-failure.js';

/** What a status line and header fields say that matters to a sender who does not use the body. */
export interface AnswerHead {
  /** 100 to 999. */
  readonly status: number;
  /** How the body ends; a number is its length in bytes. */
  readonly body: number | 'chunked' | 'until-close';
  /** Whether the connection may carry a further request after this answer. */
  readonly persistent: boolean;
  /** The first `Retry-After` as it came. */
  readonly retryAfter: string | undefined;
  /** For how long the endpoint keeps an idle connection, by `Keep-Alive: timeout=`. */
  readonly keepAliveSeconds: number | undefined;
}

/**
 * RFC 9112 §4 and §5 with nothing lenient: lines end with CR LF, no folded values, no control characters, no space before
 * the colon. No part can match what the next one begins with, so it takes time in proportion to the length.
 */
const HEAD = new RegExp(
  `^HTTP/1\\.[01] [1-9]\\d\\d(?: ${VALUE_CHARACTER}*)?(?:\\r\\n${NAME_CHARACTER}+:${VALUE_CHARACTER}*)*$`,
);
const KEEP_ALIVE_TIMEOUT = /(?:^|,)[ \t]*timeout[ \t]*=[ \t]*"?(\d{1,9})/i;
const LENGTH = /^\d{1,15}$/;
/** Of the status line, `HTTP/1.1 200`. */
const MINOR_VERSION_AT = 7;
const STATUS_AT = 9;

/** What is looked at. */
const LOOKED_AT = ['connection', 'keep-alive', 'retry-after', 'content-length', 'transfer-encoding'] as const;
type Field = (typeof LOOKED_AT)[number];
type Fields = Partial<Record<Field, string>>;
const FIELDS = new Map<string, Field>(LOOKED_AT.map((name) => [name, name]));
/** All names of another length are passed over without a copy. */
const LENGTHS = new Set(LOOKED_AT.map(({ length }) => length));

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09;

/** Without the optional white space of HTTP around it; `trim` would take more. */
function valueAt(head: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(head.charCodeAt(start))) start += 1;
  while (end > start && isSpace(head.charCodeAt(end - 1))) end -= 1;
  return head.slice(start, end);
}

/** Several lines of one name are one list (RFC 9110 §5.3); of `Retry-After`, whose dates have commas, the first counts. */
function take(fields: Fields, name: Field, value: string): void {
  const before = fields[name];
  if (before === undefined) fields[name] = value;
  else if (name !== 'retry-after') fields[name] = `${before},${value}`;
}

function fieldsOf(head: string): Fields {
  const fields: Fields = {};
  for (let line = head.indexOf('\r\n'); line >= 0;) {
    const start = line + 2;
    const colon = head.indexOf(':', start);
    line = head.indexOf('\r\n', colon);
    if (!LENGTHS.has(colon - start)) continue;
    const name = FIELDS.get(head.slice(start, colon).toLowerCase());
    if (name !== undefined) take(fields, name, valueAt(head, colon + 1, line < 0 ? head.length : line));
  }
  return fields;
}

const tokensOf = (list: string): string[] =>
  list.split(',').map((token) => valueAt(token, 0, token.length).toLowerCase());

/** A length that is none, that came twice, or that stands beside a coding is a fault: who reads it otherwise sees other bodies. */
function judgeLength(length: string, coding: string | undefined): void {
  if (!LENGTH.test(length)) throw new SendFailure('PROTOCOL', 'BAD_LENGTH');
  if (coding !== undefined) throw new SendFailure('PROTOCOL', 'LENGTH_AND_CODING');
}

const hasNoBody = (status: number): boolean => status < 200 || status === 204 || status === 304;

/** RFC 9112 §6.3 for the answer to a POST. */
function bodyOf(status: number, fields: Fields): AnswerHead['body'] {
  const { 'content-length': length, 'transfer-encoding': coding } = fields;
  if (length !== undefined) judgeLength(length, coding);
  if (hasNoBody(status)) return 0;
  if (coding !== undefined) return tokensOf(coding).at(-1) === 'chunked' ? 'chunked' : 'until-close';
  return length === undefined ? 'until-close' : Number(length);
}

/** HTTP/1.0 knows no coding: with one, the end of the body cannot be trusted (RFC 9112 §6.1). */
function isPersistent(isOld: boolean, { connection, 'transfer-encoding': coding }: Fields): boolean {
  if (connection === undefined) return !isOld;
  const tokens = tokensOf(connection);
  return !tokens.includes('close') && (!isOld || (coding === undefined && tokens.includes('keep-alive')));
}

function keepAliveSecondsOf(keepAlive: string | undefined): number | undefined {
  const seconds = keepAlive === undefined ? undefined : KEEP_ALIVE_TIMEOUT.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** `head` is latin1, without the empty line that ends it. Throws a `SendFailure` for what is no HTTP/1. */
export function parseAnswerHead(head: string): AnswerHead {
  if (!HEAD.test(head)) throw new SendFailure('PROTOCOL', 'NOT_HTTP');
  const status = Number(head.slice(STATUS_AT, STATUS_AT + 3));
  const fields = fieldsOf(head);
  const body = bodyOf(status, fields);
  return {
    status,
    body,
    persistent: body !== 'until-close' && isPersistent(head.charAt(MINOR_VERSION_AT) === '0', fields),
    retryAfter: fields['retry-after'],
    keepAliveSeconds: keepAliveSecondsOf(fields['keep-alive']),
  };
}
