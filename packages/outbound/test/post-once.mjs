// One attempt of the built sender to ORIGIN on loopback, with an extra authority file if one is given; prints its result.
import { createSender } from '../dist/src/index.js';

const [, , origin, extraCaFile] = process.argv;
const sender = createSender({ addresses: { allowLoopback: true }, extraCaFile });
const result = await sender.post({ target: { origin, path: '/' }, headers: [], body: Buffer.from('{}') });
await sender.close();
process.stdout.write(JSON.stringify(result));
