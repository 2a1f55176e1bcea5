import fc from 'fast-check';
import { originForm, ownerOf } from '../../src/request/request-target.js';
import { parseJsonText } from '../../src/request/read-body.js';
import { AppError } from '../../src/request/app-error.js';

const target = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc
    .array(fc.constantFrom('/', '//', '#', '?', '%', '%2f', '..', '@', ':', 'http://', 'a', ' '))
    .map((parts) => parts.join('')),
);

it('any request target becomes a path without a fragment, which the router uses unchanged', () => {
  fc.assert(
    fc.property(target, (given) => {
      const path = originForm(given);
      expect(path).toMatch(/^\/[^#]*$/s);
      expect(['string', 'undefined']).toContain(typeof ownerOf(path));
    }),
  );
});

it('any body is read as a value or refused as a problem of the caller', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string({ unit: 'binary' }), fc.uint8Array()), (body) => {
      try {
        parseJsonText(body);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
  );
});
