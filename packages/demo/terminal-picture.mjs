// Draws packages/demo/npm-start.svg from a real run: FORCE_COLOR=1 npm start -- --once | node packages/demo/terminal-picture.mjs
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { terminalPicture } from '../tooling/terminal-picture.mjs';

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const output = Buffer.concat(chunks).toString('utf8').trimEnd();
// npm's own lines, and the first start's installation, come before.
const lines = ['$ npm start -- --once', ...output.slice(output.indexOf('· starting')).split('\n')];
writeFileSync(
  fileURLToPath(new URL('npm-start.svg', import.meta.url)),
  terminalPicture(lines, 'The terminal of npm start'),
);
