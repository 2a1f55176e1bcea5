import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { generateSample, toNdjson } from '@webhooks/ledger';

// node packages/demo/dist/src/write-sample.js --count 20000 --seed 7 --out /tmp/events.ndjson
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1200' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const text = toNdjson(generateSample(Number(values.count), Number(values.seed)));
if (values.out === undefined) process.stdout.write(text);
else writeFileSync(values.out, text);
