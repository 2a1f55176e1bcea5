// Reads a list of AsyncAPI documents from standard input and prints what their parser says of each, as JSON. A process of its own: the
// parser is a large CommonJS tree. Whoever opens a connection fails, so that the test proves that nothing is fetched.
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import asyncapi from '@asyncapi/parser';

Socket.prototype.connect = () => {
  throw new Error('the parser wanted to open a connection');
};

const parser = new asyncapi.Parser();
const [ERROR, WARNING] = [0, 1];
const faults = [];
for (const document of JSON.parse(await text(process.stdin)))
  faults.push(
    (await parser.validate(document))
      .filter(({ severity }) => severity === ERROR || severity === WARNING)
      .map(({ path, message }) => `${path.join('.')}: ${message}`),
  );
process.stdout.write(JSON.stringify(faults));
