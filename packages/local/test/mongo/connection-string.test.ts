import { withDatabase } from '../../src/mongo/connection-string.js';

describe('a connection string for a database', () => {
  it.each([
    ['mongodb://127.0.0.1:27017', 'mongodb://127.0.0.1:27017/a'],
    ['mongodb://127.0.0.1:27017/', 'mongodb://127.0.0.1:27017/a'],
    ['mongodb://h1:1,h2:2/old?replicaSet=rs0', 'mongodb://h1:1,h2:2/a?replicaSet=rs0'],
    ['mongodb+srv://cluster.example/?w=majority', 'mongodb+srv://cluster.example/a?w=majority'],
    ['mongodb://u:p%40@h/', 'mongodb://u:p%40@h/a?authSource=admin'],
    ['mongodb://u:p@h/users', 'mongodb://u:p@h/a?authSource=users'],
    ['mongodb://u:p@h/users?authSource=admin', 'mongodb://u:p@h/a?authSource=admin'],
  ])('%s → %s', (base, expected) => {
    expect(withDatabase(base, 'a')).toBe(expected);
  });

  it('is refused when the base is none, without repeating what may hold a password', () => {
    expect(() => withDatabase('http://user:secret@host', 'a')).toThrow(
      /^expected a connection string that begins/,
    );
  });
});
