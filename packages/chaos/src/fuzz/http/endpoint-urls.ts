/** What no configuration may name: another scheme, addresses in every spelling, a single label, somebody's name in it. */
export const FORBIDDEN_URLS: readonly [string, ...string[]] = [
  'http://receiver-1.webhooks-fuzz.net/hook',
  'https:receiver-1.webhooks-fuzz.net/hook',
  '//receiver-1.webhooks-fuzz.net/hook',
  'https://127.0.0.1/hook',
  'https://127.1/hook',
  'https://2130706433/hook',
  'https://0x7f000001/hook',
  'https://0x7f.0.0.0x1/hook',
  'https://0177.0.0.1/hook',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]:8443/hook',
  'https://[::ffff:127.0.0.1]/hook',
  'https://\u2460\u2461\u2466.0.0.1/hook',
  'https://%31%32%37.0.0.1/hook',
  'https://receiver/hook',
  'https://receiver-1..webhooks-fuzz.net/hook',
  'https://receiver-1.webhooks-fuzz.net./hook',
  'https://user@receiver-1.webhooks-fuzz.net/hook',
  'https://receiver-1.webhooks-fuzz.net\\@127.0.0.1/hook',
  'https://receiver-1.webhooks-fuzz.net/hook#x',
  'https://receiver-1.webhooks-fuzz.net/a b',
  'https://localhost:80/hook',
  'https://localhost./hook',
];

/** Two labels or more, of which the last is no number in any spelling; or `localhost` with a port from 1000. */
const STORABLE =
  /^https:\/\/(?:(?:[a-z\d-]{1,63}\.)+(?!0x)[a-z\d-]*[a-z][a-z\d-]*(?::\d{3,5})?|localhost:\d{4,5})(?:[/?][!-"$-~]*)?$/i;

/** Whether a configuration may name this URL: looser than the rules of config-api, and none of its code. */
export const isStorable = (url: string): boolean => url.length <= 2_048 && STORABLE.test(url);
