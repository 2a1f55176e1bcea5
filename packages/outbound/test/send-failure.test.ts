import { codeOf, isOurFault, SendFailure, toConnectFailure, toFailedResult } from '../src/send-failure.js';

const failing = (code: unknown, name = 'Error', message = ''): Error =>
  Object.assign(new Error(message), { name, ...(code === undefined ? {} : { code }) });

describe('toFailedResult', () => {
  // The table of measured codes, for errors after the connection stood.
  it.each<[unknown, string, string]>([
    ['UND_ERR_CONNECT_TIMEOUT', 'Error', 'CONNECT_TIMEOUT'],
    ['CERT_HAS_EXPIRED', 'Error', 'TLS'],
    ['CERT_NOT_YET_VALID', 'Error', 'TLS'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'Error', 'TLS'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'Error', 'TLS'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'Error', 'TLS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'Error', 'TLS'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'Error', 'TLS'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'Error', 'TLS'],
    ['EPROTO', 'Error', 'TLS'],
    ['UND_ERR_SOCKET', 'SocketError', 'SOCKET'],
    ['ECONNRESET', 'Error', 'SOCKET'],
    ['EPIPE', 'Error', 'SOCKET'],
    ['UND_ERR_HEADERS_TIMEOUT', 'Error', 'TIMEOUT'],
    ['UND_ERR_BODY_TIMEOUT', 'Error', 'TIMEOUT'],
    ['UND_ERR_HEADERS_OVERFLOW', 'Error', 'PROTOCOL'],
    [undefined, 'HTTPParserError', 'PROTOCOL'],
    ['HPE_INVALID_CONSTANT', 'HTTPParserError', 'PROTOCOL'],
    [undefined, 'Error', 'SOCKET'],
  ])('takes code %s of a %s as %s', (code, name, error) => {
    expect(toFailedResult(failing(code, name), 3)).toMatchObject({
      kind: 'unreachable',
      error,
      durationMs: 3,
    });
  });

  it('shows a code only when it is a plain word', () => {
    for (const code of [23, 'https://x?token=1', 'a b', '', {}]) {
      expect(toFailedResult(failing(code), 1)).toMatchObject({ code: 'UNKNOWN' });
    }
  });

  it('keeps the class that our own connector found', () => {
    expect(toFailedResult(new SendFailure('DNS', 'ENOTFOUND'), 1)).toEqual({
      kind: 'unreachable',
      error: 'DNS',
      code: 'ENOTFOUND',
      durationMs: 1,
    });
  });

  it('says that an address is denied without saying which', () => {
    expect(toFailedResult(new SendFailure('ADDRESS_DENIED', 'private'), 1)).toEqual({
      kind: 'forbidden',
      error: 'ADDRESS_DENIED',
      code: 'ADDRESS_DENIED',
      reason: 'private',
      durationMs: 1,
    });
  });
});

describe('toConnectFailure', () => {
  it.each([
    ['ETIMEDOUT', 'CONNECT_TIMEOUT'],
    ['ECONNREFUSED', 'CONNECT'],
    ['EHOSTUNREACH', 'CONNECT'],
  ])('takes %s as %s', (code, errorClass) => {
    expect(toConnectFailure(failing(code))).toMatchObject({ errorClass, reasonCode: code });
  });
});

describe('a fault of our own', () => {
  const noAddress = (address?: string): Error =>
    Object.assign(failing('EADDRNOTAVAIL'), address === undefined ? {} : { address });
  const refused = Object.assign(failing('ECONNREFUSED'), { address: '192.0.2.1' });
  const several = (...errors: Error[]): Error =>
    Object.assign(new AggregateError(errors), { code: codeOf(errors[0], '') });

  it.each<[string, Error, boolean]>([
    ['no port left to an address of IPv4', noAddress('192.0.2.1'), true],
    ['no port left, seen beside an address that refused', several(refused, noAddress('192.0.2.2')), true],
    ['no IPv6 on this machine', noAddress('2001:db8::1'), false],
    [
      'no IPv6 on this machine, and the other address refused',
      several(noAddress('2001:db8::1'), refused),
      false,
    ],
    ['the same code without an address', noAddress(), false],
    ['no descriptor left', failing('EMFILE'), true],
    ['a header that cannot be sent', failing('UND_ERR_INVALID_ARG'), true],
    ['a connection that was refused', refused, false],
  ])('%s: %#', (_, error, ours) => {
    expect(isOurFault(error)).toBe(ours);
    expect(isOurFault(toConnectFailure(error))).toBe(ours);
  });
});
