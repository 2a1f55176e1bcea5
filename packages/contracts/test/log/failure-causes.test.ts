import { causeOf, FAILURE_CAUSES } from '../../src/index.js';
import { FAILURE_CAUSES_PT } from '../../src/log/failure-causes-pt.js';

describe('the cause of a failed attempt', () => {
  it.each([
    [{ error: 'TLS', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, /^The certificate is self-signed/],
    [{ error: 'TLS', code: 'TLS_CLIENT_CERTIFICATE_REQUIRED' }, /^Your server demands a client certificate/],
    [{ error: 'TLS', code: 'A_CODE_OF_TOMORROW' }, /^The TLS handshake failed/],
    [{ error: 'TLS', code: 'ERR_SSL_WRONG_VERSION_NUMBER' }, /serve HTTPS/],
    [{ error: 'TLS', code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL' }, /speaks no HTTP\/1\.1/],
    [{ error: 'CONNECT' }, /^The server cannot be reached/],
    [{ error: 'CONNECT', code: 'ECONNRESET' }, /closed the connection/],
    [{ error: 'PROTOCOL', code: 'HEADERS_TOO_LONG' }, /longer than 16 KiB/],
    [{ status: 307 }, /^Redirects are never followed/],
    [{ status: 400 }, /nginx also sends 400 without a client certificate/],
    [{ status: 418 }, /^The endpoint refused the notification: look at its log/],
    [{ status: 429 }, /Retry-After/],
    [{ status: 502 }, /^The endpoint, or a proxy before it, failed/],
  ])('of %j is a sentence to act on', (failure, sentence) => {
    expect(causeOf(failure)).toMatch(sentence);
  });

  it.each([{ status: 204 }, { status: 999 }, { error: 'A_CLASS_OF_TOMORROW' }, { error: 'constructor' }, {}])(
    'is none of %j',
    (failure) => {
      expect(causeOf(failure)).toBeUndefined();
    },
  );

  it('is there in Portuguese, too, for the same failures', () => {
    expect([...FAILURE_CAUSES_PT.keys()]).toEqual([...FAILURE_CAUSES.keys()]);
    expect(causeOf({ error: 'TLS', code: 'CERT_HAS_EXPIRED' }, 'pt')).toMatch(/^O certificado venceu/);
    expect(causeOf({ status: 418 }, 'pt')).toMatch(/^O endpoint recusou a notificação/);
  });
});
