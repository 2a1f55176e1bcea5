#!/usr/bin/env node
import { run } from './program.js';

// Whoever reads may have enough before the end (`| head -1`); the work is done all the same.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await run(process.argv.slice(2));
