const PARTS = /^(mongodb(?:\+srv)?:\/\/)([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/;

/**
 * `base` with `database` in place of the database it names. When it has credentials and no `authSource`, they keep
 * being checked where they were: in the database that `base` named, or in `admin`.
 */
export function withDatabase(base: string, database: string): string {
  const [, scheme, authority, named, query = ''] = PARTS.exec(base) ?? [];
  if (scheme === undefined || authority === undefined) {
    throw new Error('expected a connection string that begins with mongodb:// or mongodb+srv://');
  }
  const options = new URLSearchParams(query);
  if (authority.includes('@')) keepAuthSource(options, named);
  const path = `${scheme}${authority}/${encodeURIComponent(database)}`;
  return options.size === 0 ? path : `${path}?${options.toString()}`;
}

function keepAuthSource(options: URLSearchParams, named: string | undefined): void {
  if (!options.has('authSource')) options.set('authSource', decodeURIComponent(named || 'admin'));
}
