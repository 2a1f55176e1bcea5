// Reads an AsyncAPI document from standard input and prints what its parser says of it, as JSON. A process of its own: the
// parser is a large CommonJS tree. Whoever opens a connection fails, so that the test proves that nothing is fetched.
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import asyncapi from '@asyncapi/parser';

Socket.prototype.connect = () => {
  throw new Error('the parser wanted to open a connection');
};

const diagnostics = await new asyncapi.Parser().validate(await text(process.stdin));
const [ERROR, WARNING] = [0, 1];
const said = diagnostics
  .filter(({ severity }) => severity === ERROR || severity === WARNING)
  .map(({ path, message }) => `${path.join('.')}: ${message}`);
process.stdout.write(JSON.stringify(said));
