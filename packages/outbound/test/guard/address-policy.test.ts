import { createRandom } from '@webhooks/testkit';
import { checkByBlocks, checkByRange, DENIED_IPV4, DENIED_IPV6 } from '../../src/guard/address-policy.js';
import { createAddressPolicy } from '../../src/index.js';

/** Every address form named in the security notes, with the edges of the blocks. */
const DENIED = [
  '0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.1 127.0.0.2',
  '127.255.255.255 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 169.254.170.23 169.254.20.10 169.254.169.253',
  '172.16.0.0 172.31.255.255 192.0.0.192 192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.0',
  '192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255',
  '240.0.0.1 255.255.255.254 255.255.255.255',
  ':: ::1 ::127.0.0.1 ::7f00:1 ::ffff:127.0.0.1 ::fFFf:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::a00:1 100::1 100:0:0:1::1 2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1',
  '2001:20::1 2001:30::1 2001:1ff:ffff::1 2001:db8::1 3fff::1 3fff:fff::1 2002:7f00:1:: 2620:4f:8000::1 2001:4:112::1',
  '3ffe::1 5f00::1 4000::1 fc00::1 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fe80::1 fec0::1 ff02::1 1fff::1 000:0:0000::01',
].flatMap((line) => line.split(' '));

const ALLOWED = [
  '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15',
  '168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0',
  '198.17.255.255 198.20.0.0 200.147.3.1 223.255.255.255',
  '2000::1 2001:200::1 2001:4860:4860::8888 2003::1 2606:4700:4700::1111 2804:14d::1 2620:4f:8001::1 3ffd::1 3fff:1000::1',
].flatMap((line) => line.split(' '));

const classify = createAddressPolicy();

describe('the address policy', () => {
  it.each(DENIED)('denies %s', (address) => {
    expect(classify(address)).toEqual(expect.any(String));
  });

  it.each(ALLOWED)('allows %s', (address) => {
    expect(classify(address)).toBeUndefined();
  });

  it.each([
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '1.1.1.1.',
    'fe80::1%eth0',
    '[::1]',
  ])('denies %j, which is no plain address', (address) => {
    expect(classify(address)).toBe('not an address');
  });

  it('allows loopback with the switch, and nothing else with it', () => {
    const policy = createAddressPolicy({ allowLoopback: true });
    for (const address of ['127.0.0.1', '127.255.255.255', '::1']) expect(policy(address)).toBeUndefined();
    const others = DENIED.filter((address) => !/^127\.|^(0*:)+0*1$/.test(address));
    for (const address of others) expect(policy(address)).toEqual(expect.any(String));
    expect(others.length).toBeGreaterThan(70);
  });

  it("denies what is on the operator's list, the switch notwithstanding", () => {
    const policy = createAddressPolicy({
      allowLoopback: true,
      deny: ['8.8.8.0/24', '2606:4700::/32', '1.1.1.1', '::1'],
    });
    for (const address of ['8.8.8.8', '2606:4700::1', '1.1.1.1', '::1', '::ffff:8.8.8.8']) {
      expect(policy(address)).toEqual(expect.any(String));
    }
    expect(policy('1.1.1.2')).toBeUndefined();
  });

  it.each(['10.0.0.0/33', 'example.com', '10.0.0.0/-1', '1.2.3.4/8/8', '', '::/129', '10.0.0.0/a'])(
    'refuses %j as an entry of the list',
    (block) => {
      expect(() => createAddressPolicy({ deny: [block] })).toThrow('expected an IP address or a CIDR block');
    },
  );
});

describe("the operator's exceptions", () => {
  it('open exactly what they name', () => {
    const policy = createAddressPolicy({ allow: ['10.1.0.0/16', '192.168.7.7', 'fd12:3456::/32'] });
    for (const address of ['10.1.2.3', '192.168.7.7', 'fd12:3456::1']) {
      expect(policy(address)).toBeUndefined();
    }
    for (const address of ['10.2.0.1', '192.168.7.8', 'fd13::1', '127.0.0.1', '169.254.169.254']) {
      expect(policy(address)).toEqual(expect.any(String));
    }
  });

  it.each(
    [
      '0.0.0.0/0 ::/0 127.0.0.0/8 127.0.0.1 ::1 169.254.0.0/16 169.254.169.254 168.63.129.16 0.0.0.0/8 10.0.0.0/7',
      '172.16.0.0/11 192.168.0.0/15 fe80::/10 fc00::/6 ::ffff:10.0.0.0/104 64:ff9b::/96 224.0.0.0/4 8.8.8.8',
    ].flatMap((line) => line.split(' ')),
  )('cannot be made for %s', (block) => {
    expect(() => createAddressPolicy({ allow: [block] })).toThrow('expected an exception inside');
  });

  it('never unwrap: a mapped, translated or 6to4 form of an excepted address stays denied', () => {
    const policy = createAddressPolicy({ allow: ['10.0.0.0/8'] });
    for (const address of [
      '::ffff:10.0.0.1',
      '::10.0.0.1',
      '::ffff:0:10.0.0.1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
    ]) {
      expect(policy(address)).toEqual(expect.any(String));
    }
  });

  it('never open metadata services, and never what the operator denies', () => {
    const policy = createAddressPolicy({
      allow: ['100.64.0.0/10', 'fc00::/7', '10.0.0.0/8'],
      deny: ['10.9.0.0/16'],
    });
    for (const address of ['100.100.100.200', 'fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', '10.9.1.1']) {
      expect(policy(address)).toEqual(expect.any(String));
    }
    expect(policy('10.8.1.1')).toBeUndefined();
  });
});

describe('the two checks', () => {
  const random = createRandom(11);

  it('are both made, and either one alone denies an address', () => {
    expect(classify('100.64.0.1')).toBe(checkByRange('100.64.0.1'));
    expect(checkByRange('100.64.0.1')).not.toBe(checkByBlocks('100.64.0.1', 'ipv4'));
    expect(classify('168.63.129.16')).toBe('cloud platform');
  });

  it('deny every block of our table each for itself, so that one alone would do', () => {
    const special = new Set(['168.63.129.16/32', '3ffe::/16']);
    for (const [block] of [...DENIED_IPV4, ...DENIED_IPV6]) {
      for (let i = 0; i < 20; i += 1) {
        const address = addressIn(block);
        expect(checkByBlocks(address, address.includes(':') ? 'ipv6' : 'ipv4')).toBeDefined();
        // Two vendor and historic blocks are unknown to ipaddr.js.
        if (!special.has(block)) expect(checkByRange(address)).toBeDefined();
      }
    }
  });

  it('agree on random IPv6 addresses outside global unicast', () => {
    for (let i = 0; i < 2_000; i += 1) {
      const address = Array.from({ length: 8 }, () => random.int(0, 65_535).toString(16)).join(':');
      const first = Number.parseInt(address, 16);
      if (first >= 0x2000 && first <= 0x3fff) continue;
      expect(checkByRange(address)).toBeDefined();
      expect(checkByBlocks(address, 'ipv6')).toBeDefined();
    }
  });

  function addressIn(block: string): string {
    const [base = '', bits = '0'] = block.split('/');
    if (!base.includes(':')) {
      const number = base.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
      const value = number + Math.floor(random.next() * 2 ** (32 - Number(bits)));
      return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
    }
    const groups = base.replace(/::$/, '').split(':');
    const free = Array.from({ length: 8 - groups.length }, () => random.int(0, 65_535).toString(16));
    const fixedGroups = Math.ceil(Number(bits) / 16);
    // Groups inside the prefix that the short form leaves out are zero.
    return [...groups, ...free.map((group, i) => (groups.length + i < fixedGroups ? '0' : group))].join(':');
  }
});
