import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLANTED } from '../../src/planted/planted.js';
import { POINTS } from '../../src/points/points.js';
import { replaceOnce } from '../../src/replace-once.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const built = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe.each(POINTS)('the point $name', (point) => {
  it('is there once in what is built, where it passes the point by its name', () => {
    const text = replaceOnce(built(point.file), point, point.name);
    expect(text.split(`globalThis.passPoint('${point.name}');`)).toHaveLength(2);
  });

  it('is known to no build, and stays where it is with any bug that is planted in its file', () => {
    expect(built(point.file)).not.toContain('passPoint');
    const places = PLANTED.flatMap(({ places: own }) => own).filter(({ file }) => file === point.file);
    for (const place of places) {
      const text = replaceOnce(built(point.file), place, 'a bug');
      expect(replaceOnce(text, point, point.name)).toContain(point.name);
    }
  });
});
