import { codeOf, isLocalFault, SendFailure, toConnectFailure, toFailedResult } from '../src/send-failure.js';

const failing = (code: unknown): Error => Object.assign(new Error(), code === undefined ? {} : { code });

describe('toFailedResult', () => {
  // The table of measured codes, for errors after the connection stood.
  it.each<[unknown, string]>([
    ['CERT_HAS_EXPIRED', 'TLS'],
    ['CERT_NOT_YET_VALID', 'TLS'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'TLS'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'TLS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'TLS'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TLS'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'TLS'],
    ['EPROTO', 'TLS'],
    ['ECONNRESET', 'SOCKET'],
    ['EPIPE', 'SOCKET'],
    [undefined, 'SOCKET'],
  ])('takes code %s as %s', (code, error) => {
    expect(toFailedResult(failing(code), 3)).toMatchObject({
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
    ['a connection that was refused', refused, false],
  ])('%s: %#', (_, error, ours) => {
    expect(isLocalFault(error)).toBe(ours);
    expect(isLocalFault(toConnectFailure(error))).toBe(ours);
  });
});
