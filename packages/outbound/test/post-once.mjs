// One attempt of the built sender to ORIGIN on loopback; prints its result.
import { createSender } from '../dist/src/index.js';

const [, , origin] = process.argv;
const sender = createSender({ addresses: { allowLoopback: true } });
const result = await sender.post({ target: { origin, path: '/' }, headers: [], body: Buffer.from('{}') });
await sender.close();
process.stdout.write(JSON.stringify(result));
