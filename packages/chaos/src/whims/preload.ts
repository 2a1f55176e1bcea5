import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { CLOCKS_VARIABLE, readClock } from './clock.js';
import { NAME_SERVER_VARIABLE } from './names.js';

/**
 * Loaded with `--import` before a service of a chaos run: the service reads its clock through this, and asks the run's own
 * server for names. What is built, and what runs elsewhere, knows nothing of it. Monotonic time goes on, as it does when a
 * machine's clock is set.
 */
const LOOK_MS = 50;

function letClockJump(folder: string): void {
  const truly = Date.now.bind(Date);
  let aheadMs = readClock(folder);
  setInterval(() => {
    aheadMs = readClock(folder);
  }, LOOK_MS).unref();
  const now = (): number => truly() + aheadMs;
  Date.now = now;
  globalThis.Date = new Proxy(Date, {
    construct: (target, given, maker) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, maker) as object,
    apply: () => new Date(now()).toString(),
  });
}

function askServer(address: string): void {
  class Resolver extends dns.Resolver {
    constructor(options?: ConstructorParameters<typeof dns.Resolver>[0]) {
      super(options);
      this.setServers([address]);
    }
  }
  Object.assign(dns, { Resolver });
  syncBuiltinESMExports();
}

const { [CLOCKS_VARIABLE]: folder, [NAME_SERVER_VARIABLE]: server } = process.env;
if (folder !== undefined) letClockJump(folder);
if (server !== undefined) askServer(server);
