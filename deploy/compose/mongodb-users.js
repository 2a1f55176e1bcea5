// Runs when the database is new: for each service a user of its own, who may read and write that service's database.
const { readFileSync } = require('node:fs');

for (const name of ['webhook_config', 'webhook_query']) {
  const pwd = readFileSync(`/run/database/${name}`, 'utf8');
  db.getSiblingDB(name).createUser({ user: name, pwd, roles: ['readWrite'] });
}
