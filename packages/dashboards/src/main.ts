import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deliveries } from './deliveries.js';
import { platform } from './platform.js';
import { usOrThem } from './us-or-them.js';

const FOLDER = join(import.meta.dirname, '../../../../deploy/dashboards');
for (const { file, text } of [usOrThem, deliveries, platform]) writeFileSync(join(FOLDER, file), text);
