import { checkEndpointUrl, DEFAULT_URL_POLICY, parsePortRanges } from '../../src/index.js';

const reasonOf = (text: unknown): string => {
  const check = checkEndpointUrl(text);
  return check.ok ? 'accepted' : check.reason;
};

const ALLOWED_SET = 'outside the allowed set';
const SHAPE = 'does not begin with https:// and a host';
const LITERAL = 'IP address as host';
const DIFFERS = 'differs from the parsed host';
const LABEL = 'letters, digits and inner hyphens';
const EMPTY_LABEL = 'empty label or a trailing dot';
const SUFFIX = 'reserved or internal suffix';
const PARSER = 'refused by the URL parser';
const USERINFO = 'user information';

describe('checkEndpointUrl', () => {
  it.each([
    ['U1', 'https://hook.acme.com.br/pix', 'hook.acme.com.br'],
    ['U3', 'HTTPS://Hook.Acme.com.br/pix', 'hook.acme.com.br'],
    ['U4', 'https://xn--pagamento-exemplo-9jb.com.br/', 'xn--pagamento-exemplo-9jb.com.br'],
    ['U114', 'https://10.0.0.1.acme.com.br/', '10.0.0.1.acme.com.br'],
    ['', 'https://hook.acme.com.br', 'hook.acme.com.br'],
    ['', 'https://hook.acme.com.br?token=1', 'hook.acme.com.br'],
    ['', 'https://hook.acme.com.br:443/', 'hook.acme.com.br'],
    ['', 'https://hook.acme.com.br:8443/', 'hook.acme.com.br'],
    ['', 'https://hook.acme.com.br:1024/', 'hook.acme.com.br'],
    ['', 'https://hook.acme.com.br:65535/', 'hook.acme.com.br'],
    ['', `https://${'a'.repeat(63)}.com/`, `${'a'.repeat(63)}.com`],
    ['', 'https://exemplo.localhost.com/', 'exemplo.localhost.com'],
  ])('%s accepts %s', (_, text, host) => {
    const check = checkEndpointUrl(text);
    expect(check.ok && new URL(check.origin).hostname).toBe(host);
  });

  // The table of hostile cases, with its numbers.
  it.each([
    ['U6', 'ftp://hook.acme.com.br/', SHAPE],
    ['U7', 'file:///etc/passwd', SHAPE],
    ['U9', 'javascript:alert(1)', SHAPE],
    ['U10', 'data:text/plain,x', SHAPE],
    ['U12', 'https:hook.acme.com.br', SHAPE],
    ['U13', 'https:/127.0.0.1/', SHAPE],
    ['U15', 'https:\\\\127.0.0.1\\x', ALLOWED_SET],
    ['U16', 'https://', SHAPE],
    ['U18', null, 'not a string'],
    ['U19', 42, 'not a string'],
    ['U21', 'https://127.0.0.1/', LITERAL],
    ['U22', 'https://127.1/', DIFFERS],
    ['U24', 'https://0.0.0.0/', LITERAL],
    ['U25', 'https://2130706433/', DIFFERS],
    ['U27', 'https://0x7f.1/', DIFFERS],
    ['U28', 'https://017700000001/', DIFFERS],
    ['U30', 'https://127.0.0.1./', DIFFERS],
    ['U31', 'https://0x/', DIFFERS],
    ['U33', 'https://127%2e0%2e0%2e1/', DIFFERS],
    ['U34', 'https://①②⑦.⓪.⓪.①/', ALLOWED_SET],
    ['U36', 'https://1.1.1.1/', LITERAL],
    ['U37', 'https://8.8.8.8:8443/', LITERAL],
    ['U39', 'https://1.1.1.1.1/', PARSER],
    ['U40', 'https://08.0.0.1/', PARSER],
    ['U42', 'https://172.16.0.1/', LITERAL],
    ['U43', 'https://192.168.1.1/', LITERAL],
    ['U45', 'https://169.254.169.254/latest/meta-data/', LITERAL],
    ['U46', 'https://2852039166/', DIFFERS],
    ['U48', 'https://0251.0376.0251.0376/', DIFFERS],
    ['U49', 'https://100.100.100.200/', LITERAL],
    ['U51', 'https://168.63.129.16/', LITERAL],
    ['U52', 'https://[::1]/', LITERAL],
    ['U54', 'https://[::ffff:127.0.0.1]/', DIFFERS],
    ['U55', 'https://[::127.0.0.1]/', DIFFERS],
    ['U57', 'https://[64:ff9b::a9fe:a9fe]/', LITERAL],
    ['U58', 'https://[64:ff9b:1::a00:1]/', LITERAL],
    ['U60', 'https://[2001:0:7f00:1::]/', LITERAL],
    ['U61', 'https://[fd00:ec2::254]/', LITERAL],
    ['U63', 'https://[fe80::1%25eth0]/', PARSER],
    ['U64', 'https://[ff02::1]/', LITERAL],
    ['U66', 'https://[hook.acme.com.br]/', PARSER],
    ['U67', 'https://localhost/', 'single label'],
    ['U69', 'https://localhost./', EMPTY_LABEL],
    ['U70', 'https://api.localhost/', SUFFIX],
    ['U72', 'https://localhoſt/', ALLOWED_SET],
    ['U73', 'https://metadata.google.internal/', SUFFIX],
    ['U75', 'https://mongo.db.svc.cluster.local/', SUFFIX],
    ['U76', 'https://kafka:9093/', 'single label'],
    ['U78', 'https://host.docker.internal/', SUFFIX],
    ['U79', 'https://1.0.0.127.in-addr.arpa/', SUFFIX],
    ['U81', 'https://user:pw@hook.acme.com.br/', USERINFO],
    ['U82', 'https://hook.acme.com.br@127.0.0.1/', USERINFO],
    ['U84', 'https://hook.acme.com.br%2f@127.0.0.1/', USERINFO],
    ['U85', 'https://127.0.0.1\\@hook.acme.com.br/', ALLOWED_SET],
    ['U87', 'https://hook.acme.com.br#@127.0.0.1/', 'fragment'],
    ['U88', 'https://@hook.acme.com.br/', USERINFO],
    ['U93', 'https://hook.acme.com.br:65536/', PARSER],
    ['U94', 'https://hook.acme.com.br:/', 'port that is not written canonically'],
    ['U96', 'https://hook.acme.com.br./', EMPTY_LABEL],
    ['U97', 'https://hook..acme.com.br/', EMPTY_LABEL],
    ['U99', 'https://-a.acme.com.br/', LABEL],
    ['U100', 'https://hook_1.acme.com.br/', LABEL],
    ['U102', `https://${'aaaaaaaaaaaaaaaa.'.repeat(18)}com/`, 'longer than 253'],
    ['U103', `https://hook.acme.com.br/${'a'.repeat(2_100)}`, 'longer than 2048'],
    ['U105', ' https://hook.acme.com.br/', ALLOWED_SET],
    ['U106', 'https://hook.ac\tme.com.br/', ALLOWED_SET],
    ['U108', 'https://hook.acme.com.br/\u0000', ALLOWED_SET],
    ['U109', 'https://hook.acme.com.br/#frag', 'fragment'],
    ['U111', 'https://ｈｏｏｋ.acme.com.br/', ALLOWED_SET],
  ])('%s refuses %j: %s', (_, text, reason) => {
    expect(reasonOf(text)).toContain(reason);
  });

  // Known bypasses of other people's filters, as hosts of a URL.
  it.each([
    ['CVE-2023-42282', 'https://0x7f.1/'],
    ['CVE-2024-29415', 'https://01200034567/'],
    ['CVE-2024-29415', 'https://012.1.2.3/'],
    ['CVE-2024-29415', 'https://[000:0:0000::01]/'],
    ['CVE-2024-29415', 'https://[::fFFf:127.0.0.1]/'],
    ['CVE-2024-29415', 'https://017700000001/'],
    ['CVE-2021-28918', 'https://0177.0.0.01/'],
    ['CVE-2025-8020', 'https://224.0.0.1/'],
    ['CVE-2022-24825', 'https://internal.acme.com.br./'],
    ['CVE-2022-24825', 'https://LOCALHOST/'],
    ['CVE-2022-29188', 'https://[localhost]/'],
  ])('%s: refuses %s', (_, text) => {
    expect(checkEndpointUrl(text).ok).toBe(false);
  });

  it.each(
    'localhost local internal intranet lan home corp private svc arpa onion invalid test example localdomain alt'.split(
      ' ',
    ),
  )('refuses names under .%s in any letter case', (suffix) => {
    expect(reasonOf(`https://hook.acme.${suffix}/`)).toContain(SUFFIX);
    expect(reasonOf(`https://hook.acme.${suffix.toUpperCase()}/`)).toContain(SUFFIX);
  });

  it.each([
    ['https://hook.acme.com.br:80/', 'not allowed'],
    ['https://hook.acme.com.br:22/', 'not allowed'],
    ['https://hook.acme.com.br:1023/', 'not allowed'],
    ['https://hook.acme.com.br:0/', 'not written canonically'],
    ['https://hook.acme.com.br:0443/', 'not written canonically'],
    ['https://hook.acme.com.br:08443/', 'not written canonically'],
    ['https://hook.acme.com.br:+443/', PARSER],
    ['https://hook.acme.123/', 'refused'],
    ['https://a.b-/', LABEL],
    [`https://${'a'.repeat(64)}.com/`, LABEL],
    ['', 'empty'],
    [undefined, 'not a string'],
    [new URL('https://hook.acme.com.br/'), 'not a string'],
  ])('refuses %j: %s', (text, reason) => {
    expect(reasonOf(text)).toContain(reason);
  });

  it.each(Array.from('"<>\\^`{|} \u007f\u0080\r\n'))('refuses the character %j anywhere', (character) => {
    expect(reasonOf(`https://hook.acme.com.br/a${character}b`)).toContain(ALLOWED_SET);
  });

  it('takes the length limit exactly', () => {
    const base = 'https://hook.acme.com.br/';
    expect(reasonOf(base.padEnd(2_048, 'a'))).toBe('accepted');
    expect(reasonOf(base.padEnd(2_049, 'a'))).toContain('longer');
  });

  it('gives the same normalised form for two spellings of one endpoint', () => {
    const one = checkEndpointUrl('HTTPS://Hook.Acme.com.br:443/a/../pix?q=A%2f');
    const two = checkEndpointUrl('https://hook.acme.com.br/pix?q=A%2f');
    expect(one).toMatchObject({
      normalized: 'https://hook.acme.com.br/pix?q=A%2f',
      origin: 'https://hook.acme.com.br',
      path: '/pix?q=A%2f',
    });
    expect(two).toMatchObject({ normalized: 'https://hook.acme.com.br/pix?q=A%2f' });
  });

  it('refuses the hosts of the operator, whatever their letter case', () => {
    const policy = { ...DEFAULT_URL_POLICY, ownHosts: ['API.Acme.com.br'] };
    expect(checkEndpointUrl('https://api.acme.com.br/x', policy)).toMatchObject({ ok: false });
    expect(checkEndpointUrl('https://hook.acme.com.br/x', policy)).toMatchObject({ ok: true });
  });

  describe('with the development switch', () => {
    const policy = { ...DEFAULT_URL_POLICY, allowLocalhost: true };

    it('lets localhost pass on ports from 1024, and nothing else', () => {
      expect(checkEndpointUrl('https://localhost:1024/hook', policy)).toMatchObject({
        ok: true,
        origin: 'https://localhost:1024',
      });
      const others = [
        'https://localhost/hook',
        'https://localhost:443/',
        'https://localhost:1023/',
        'https://localhost.:8443/',
        'https://api.localhost:8443/',
        'https://127.0.0.1:8443/',
        'https://[::1]:8443/',
        'http://localhost:8443/',
        'https://kafka:9093/',
      ];
      for (const text of others) expect(checkEndpointUrl(text, policy)).toMatchObject({ ok: false });
    });
  });
});

describe('parsePortRanges', () => {
  it('reads single ports and ranges', () => {
    expect(parsePortRanges('443, 1024-65535')).toEqual([
      { from: 443, to: 443 },
      { from: 1_024, to: 65_535 },
    ]);
  });

  it.each(['', '0', '65536', '443-', '9-8', 'https'])('refuses %j', (text) => {
    expect(() => parsePortRanges(text)).toThrow('expected ports such as');
  });
});
