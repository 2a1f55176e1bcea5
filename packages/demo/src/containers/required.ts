/** A variable of docker-compose.yml. Throws with its name when it is missing. */
export function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is required; see docker-compose.yml`);
  return value;
}
