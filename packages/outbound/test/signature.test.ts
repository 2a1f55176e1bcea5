import { hash } from 'node:crypto';
import { inspect } from 'node:util';
import { Webhook } from 'standardwebhooks';
import {
  generateSecret,
  parseSecret,
  prepareSecret,
  signStandardWebhooks,
  signVendor,
  vendorSignatureHeader,
} from '../src/index.js';

const CURRENT = 'whsec_ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8=';
const PREVIOUS = 'whsec_/+7dzLuqmYh3ZlVEMyIRAP/u3cy7qpmId2ZVRDMiEQA=';
const id = 'evt_01KAKF2C8V7M3N5P9Q1R2S3T4V';
const timestampSeconds = 1_795_269_808;
const body = Buffer.from(
  '{"id":"evt_01KAKF2C8V7M3N5P9Q1R2S3T4V","eventType":"PIX_DYNAMIC_PAID","timestamp":"2026-11-21T14:03:27.512Z","data":{"txid":"7f3c2b1a9e8d4c5fa6b7c8d9e0f1a2b3","endToEndId":"E12345678202611211403a1b2c3d4e5F","valor":"110.00","horario":"2026-11-21T14:03:27.498Z"}}',
);
const current = prepareSecret(CURRENT);
const previous = prepareSecret(PREVIOUS);

describe('the vectors', () => {
  it('have the body they were made with', () => {
    expect(body).toHaveLength(262);
    expect(hash('sha256', body)).toBe('ba288a02244ca0e26e4e24824a51ee129b409e23c4e389514da3af856c603b1d');
  });

  it('of Standard Webhooks hold', () => {
    const secret = prepareSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    const signature = signStandardWebhooks({
      secrets: [secret],
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampSeconds: 1_614_265_330,
      body: Buffer.from('{"test": 2432232314}'),
    });
    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('of this project hold for webhook-signature, with both secrets during a rotation', () => {
    const newest = 'v1,624+a6V7V8gyaX2uY8viYLxt903ltSpnD7sMBV9xKYE=';
    const older = 'v1,ES6C1jUge0ZbzOXassbvUQVAv7y2COKE8iyx7R5JYKs=';
    expect(signStandardWebhooks({ secrets: [current], id, timestampSeconds, body })).toBe(newest);
    expect(signStandardWebhooks({ secrets: [previous], id, timestampSeconds, body })).toBe(older);
    const both = signStandardWebhooks({ secrets: [current, previous], id, timestampSeconds, body });
    expect(both).toBe(`${newest} ${older}`);
  });

  it("of this project hold for the vendor's signature, with both secrets during a rotation", () => {
    const newest = 'v1=0d63c7f6ecaded649feb928d60a66bc66870713c86da626eda64f2c09f2ee482';
    const older = 'v1=732e0a424cc6fb14da214bd986b33a229bfee37281f420dc898e02325b6b83f1';
    expect(signVendor({ secrets: [current], timestampSeconds, body })).toBe(`t=1795269808,${newest}`);
    expect(signVendor({ secrets: [current, previous], timestampSeconds, body })).toBe(
      `t=1795269808,${newest},${older}`,
    );
  });
});

describe('signatures', () => {
  const now = Math.floor(Date.now() / 1_000);
  const headersFor = (bytes: Buffer, secrets = [current], at = now): Record<string, string> => ({
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': signStandardWebhooks({ secrets, id, timestampSeconds: at, body: bytes }),
  });
  const verify = (secret: string, bytes: Buffer, headers: Record<string, string>): unknown =>
    new Webhook(secret).verify(bytes.toString('utf8'), headers);

  it.each(['{}', '{"text":"é 🙂"}', body.toString()])(
    'are verified by the npm package standardwebhooks: %s',
    (text) => {
      const bytes = Buffer.from(text);
      expect(verify(CURRENT, bytes, headersFor(bytes))).toEqual(JSON.parse(text));
    },
  );

  it('are verified with either secret during a rotation, in either order', () => {
    for (const secrets of [
      [current, previous],
      [previous, current],
    ]) {
      expect(() => verify(CURRENT, body, headersFor(body, secrets))).not.toThrow();
      expect(() => verify(PREVIOUS, body, headersFor(body, secrets))).not.toThrow();
    }
  });

  it('are refused with a changed body, time or id, another secret, or only the expired one', () => {
    const flipped = Buffer.from(body);
    flipped.writeUInt8((flipped[10] ?? 0) ^ 1, 10);
    expect(() => verify(CURRENT, flipped, headersFor(body))).toThrow();
    expect(() =>
      verify(CURRENT, body, { ...headersFor(body), 'webhook-timestamp': String(now + 1) }),
    ).toThrow();
    expect(() => verify(CURRENT, body, { ...headersFor(body), 'webhook-id': 'evt_other' })).toThrow();
    expect(() => verify(generateSecret(), body, headersFor(body))).toThrow();
    expect(() => verify(PREVIOUS, body, headersFor(body))).toThrow();
    expect(() => verify(CURRENT, body, headersFor(body, [current], now - 600))).toThrow();
  });

  it('of a retry differ by the time alone', () => {
    const retry = headersFor(body, [current], now + 5);
    expect(retry['webhook-id']).toBe(headersFor(body)['webhook-id']);
    expect(retry['webhook-signature']).not.toBe(headersFor(body)['webhook-signature']);
    expect(() => verify(CURRENT, body, retry)).not.toThrow();
  });

  it('are empty without a secret', () => {
    expect(signStandardWebhooks({ secrets: [], id, timestampSeconds, body })).toBe('');
    expect(signVendor({ secrets: [], timestampSeconds, body })).toBe('');
  });
});

describe('secrets', () => {
  it('are 32 random bytes, and different each time', () => {
    const [one, two] = [generateSecret(), generateSecret()];
    expect(one).not.toBe(two);
    const parsed = parseSecret(one);
    expect(parsed.ok && parsed.bytes.length).toBe(32);
  });

  it.each([
    ['ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3', 'does not start with whsec_'],
    [42, 'does not start with whsec_'],
    ['whsec_', 'has 0 bytes, expected 24 to 64'],
    ['whsec_c2hvcnQ=', 'has 5 bytes, expected 24 to 64'],
    [`whsec_${Buffer.alloc(65).toString('base64')}`, 'has 65 bytes'],
    ['whsec_ABEiM0RVZneImaq7zN3u_wARIjNEVWZ3', 'is not base64'],
    ['whsec_ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3 ', 'is not base64'],
    ['whsec_ABEiM0RVZneImaq7zN3u/wARIjNEVWZ', 'is not base64'],
  ])('refuses %j: %s', (text, reason) => {
    expect(parseSecret(text)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) as string });
  });

  it('show nothing of themselves in logs or errors', () => {
    const shown = inspect(current, { depth: 9, showHidden: true }) + JSON.stringify(current);
    expect(shown).not.toMatch(/ABEiM|00112233|0, 17, 34|00 11 22/);
    expect(() => prepareSecret('whsec_t0ps3cret')).toThrow(/^expected a signing secret; it is not base64$/);
  });
});

describe('vendorSignatureHeader', () => {
  it('names the header', () => {
    expect(vendorSignatureHeader('Acme')).toBe('X-Acme-Signature');
    expect(vendorSignatureHeader('acme-pay')).toBe('X-acme-pay-Signature');
  });

  it.each(['', 'a b', 'a:', '-a', 'a\r\nx', 'a'.repeat(41)])('refuses %j', (vendor) => {
    expect(() => vendorSignatureHeader(vendor)).toThrow('expected a vendor name');
  });
});
