import { runService } from '@webhooks/runtime';
import { checks, composeConsole } from './server/compose.js';
import { readConsoleConfig } from './config.js';

await runService({ name: 'console', readConfig: readConsoleConfig, compose: composeConsole, checks });
