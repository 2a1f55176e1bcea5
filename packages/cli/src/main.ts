#!/usr/bin/env node
import { run } from './program.js';

// A reader may close the pipe early (`| head -1`). The command still runs to its end.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await run(process.argv.slice(2));
// A proxy that refused a connection may keep it open for minutes.
process.stdout.write('', () => process.exit());
