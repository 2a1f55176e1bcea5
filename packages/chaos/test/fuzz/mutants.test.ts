import { buildEvent, createRandom } from '@webhooks/testkit';
import { makeAnswer, maySucceed } from '../../src/fuzz/answers/make-answer.js';
import { mutateRequest } from '../../src/fuzz/http/mutate-request.js';
import { parseAnswers } from '../../src/fuzz/http/parse-answers.js';
import { makeTemplate } from '../../src/fuzz/http/template.js';
import { mutateJson } from '../../src/fuzz/mutants/mutate-json.js';
import { randomFor } from '../../src/fuzz/mutants/random-for.js';
import { Notes } from '../../src/fuzz/notes.js';

const SOME = 300;
const EVENT = buildEvent({ occurredAt: '2026-11-22T10:00:00Z' }, createRandom(1));
const indexes = Array.from({ length: SOME }, (_, index) => index);

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('mutants', () => {
  it('are the same for a seed, a door and an index, and others for another one', () => {
    const template = makeTemplate({ method: 'POST', path: '/x', token: 'a.b.c', value: EVENT });
    const make = (seed: number, index: number): string =>
      mutateRequest(template, randomFor(seed, 'ingest', index)).bytes.toString('latin1');
    expect(indexes.map((index) => make(1, index))).toEqual(indexes.map((index) => make(1, index)));
    expect(new Set(indexes.map((index) => make(1, index))).size).toBeGreaterThan(SOME / 2);
    expect(indexes.filter((index) => make(1, index) === make(2, index)).length).toBeLessThan(SOME / 4);
  });

  it('of a caller without a valid token, or for another tenant, have to be refused', () => {
    const template = makeTemplate({ method: 'POST', path: '/x', token: 'a.b.c', value: EVENT });
    const wanted = indexes.map((index) => {
      const { bytes, isWire, expects } = mutateRequest(template, randomFor(1, 'ingest', index));
      if (isWire) return [undefined, expects];
      const head = bytes.toString('latin1').split('\r\n\r\n', 1)[0] ?? '';
      if (!head.includes('\r\nAuthorization: Bearer a.b.c\r\n')) return [401, expects];
      return [head.includes('\r\ntenantid: ') ? 403 : undefined, expects];
    });
    expect(wanted.map(([, expects]) => expects)).toEqual(wanted.map(([wants]) => wants));
    expect(new Set(wanted.flat())).toEqual(new Set([401, 403, undefined]));
  });

  it('of JSON are sometimes valid, sometimes none, and never touch the prototype of what they are made of', () => {
    const texts = indexes.map((index) => mutateJson(randomFor(1, 'json', index), EVENT));
    const valid = texts.filter(isJson).length;
    expect(valid).toBeGreaterThan(SOME / 4);
    expect(valid).toBeLessThan(SOME);
    expect(texts.some((text) => text.includes('__proto__'))).toBe(true);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('of answers may succeed only where a head with 2xx stands', () => {
    const raw = (text: string) => maySucceed({ bytes: Buffer.from(text) });
    expect(raw('HTTP/1.1 204 No Content\r\n\r\n')).toBe(true);
    expect(raw('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\r\n\r\n')).toBe(true);
    for (const text of [
      '',
      'HTTP/1.1 2OO OK',
      'HTTP/1.1 2000 OK',
      'HTTP/2 200 OK',
      'HTTP/1.1 503 200',
      'x: HTTP/1.1 200 OK\r\n\r\n',
      'HTTP/1.1 503 No\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3_000),
    ])
      expect([text, raw(text)]).toEqual([text, false]);
    const answers = indexes.map((index) => makeAnswer(randomFor(1, 'answers', index)));
    expect(new Set(answers.map(maySucceed))).toEqual(new Set([true, false]));
  });
});

describe('what came over the wire', () => {
  it('is read as answers, whole ones only, informational ones left out', () => {
    const bytes = Buffer.from(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' +
        'HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\nHTTP/1.1 204 No\r\n',
    );
    const answers = parseAnswers(bytes, false).map(({ status, body }) => [status, body.toString()]);
    expect(answers).toEqual([
      [200, 'ok'],
      [400, 'x'],
    ]);
  });
});

it('notes show no token, and end with twenty findings', () => {
  const notes = new Notes('door');
  for (let index = 0; index < 30; index += 1) notes.found(index, 'x', Buffer.from('a eyJh.bc.de\0'));
  expect(notes.findings).toHaveLength(20);
  expect(notes.findings[0]?.input).toBe('"a <token>\\u0000"');
  expect(notes.isFull).toBe(true);
});
