import { documentOf } from '../../src/fuzz/http/documents.js';
import { FORBIDDEN_URLS, isStorable } from '../../src/fuzz/http/endpoint-urls.js';
import { faultsOfAnswer } from '../../src/fuzz/http/judge-answer.js';
import type { Refusal } from '../../src/fuzz/http/request.js';

describe('an answer over HTTP', () => {
  const faults = (status: number, expects?: Refusal): readonly string[] =>
    faultsOfAnswer(
      { status, headers: new Map(), body: Buffer.from('{}') },
      {
        bytes: Buffer.alloc(0),
        method: 'GET',
        body: Buffer.alloc(0),
        isWire: false,
        ...(expects === undefined ? {} : { expects }),
      },
      documentOf('config-api'),
    );

  it('is at fault when it lets in whoever has no valid token, or one of another tenant', () => {
    expect(faults(200)).toEqual([]);
    expect(faults(200, 401)).toEqual(['a status 200 where only 401 may be']);
    expect(faults(202, 403)).toEqual(['a status 202 where only 403 may be']);
  });

  it('stores URLs with a public name, and nothing that is forbidden', () => {
    expect(FORBIDDEN_URLS.filter(isStorable)).toEqual([]);
    for (const url of [
      'https://receiver-1.webhooks-fuzz.net/hook?x=1',
      'https://a.bc:8443',
      'https://a.bc?x',
      'https://localhost:1024/',
    ])
      expect([url, isStorable(url)]).toEqual([url, true]);
  });
});
