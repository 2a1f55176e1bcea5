import { Socket } from 'node:net';

// Loaded into a worker by `node --import`: each SIGUSR2 stalls the reader of the configurations, or lets it go on. Its
// requests are held back where they leave the process; everything else goes on, so it is this reader alone that stalls.

/** Kafka's wire: length, then the number of the request; 1 is Fetch. */
const API_KEY_AT = 4;
const FETCH = 1;
const TOPIC = 'webhooks.configurations';

let stalled = false;
let held: (() => void)[] = [];

const isFetchOfConfigurations = (data: unknown): boolean =>
  Buffer.isBuffer(data) &&
  data.length > API_KEY_AT + 2 &&
  data.readInt16BE(API_KEY_AT) === FETCH &&
  data.includes(TOPIC);

type Write = (this: Socket, ...given: unknown[]) => boolean;
const prototype = Socket.prototype as unknown as { write: Write };
const write = prototype.write;

prototype.write = function holdBack(this: Socket, ...given) {
  if (!stalled || !isFetchOfConfigurations(given[0])) return write.apply(this, given);
  held.push(() => void write.apply(this, given));
  return true;
};

process.on('SIGUSR2', () => {
  stalled = !stalled;
  const going = held;
  held = [];
  for (const go of going) go();
});
