import { readFileSync } from 'node:fs';

/** All faults of a service's environment, reported at once. */
export class SettingsError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the environment is not valid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'SettingsError';
    this.faults = faults;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
}

type SettingType = 'text' | 'file' | 'list' | 'integer' | 'flag' | 'url' | 'parsed';

/**
 * A setting as it was read. Its meaning is in the table of deploy/README.md, which is tested against these
 * descriptors.
 */
export interface SettingDescriptor extends NumberBounds {
  readonly type: SettingType;
  /** Absent when the setting is required, or has no value by default. */
  readonly fallback?: unknown;
  readonly isRequired: boolean;
}

/**
 * Reads settings from an environment. Each method returns a usable value and adds a fault to `faults`, so that one start
 * reports every mistake. An empty variable counts as unset. A secret can come from a file: `NAME_FILE` is read when
 * `NAME` is unset.
 */
export class SettingsReader {
  readonly faults: string[] = [];
  /** All settings that were read, by name. */
  readonly descriptors = new Map<string, SettingDescriptor>();

  private readonly env: Environment;

  constructor(env: Environment) {
    this.env = env;
  }

  /** Returns text. Without a default the setting is required. */
  text(name: string, fallback?: string): string {
    return this.textOf(name, 'text', fallback);
  }

  optionalText(name: string): string | undefined {
    return this.lookUp(name, { type: 'text', isRequired: false });
  }

  /**
   * Requires text that may be renewed. The returned function reads the file of `NAME_FILE` at each call. While that
   * file cannot be read or is empty, because it is being replaced, the last text stays.
   */
  renewableText(name: string): () => string {
    return renewable(this.fileOf(name), this.text(name));
  }

  /**
   * As `renewableText`, for the file that a variable names; undefined when the variable is unset. An empty file is a fault:
   * with an empty file of authorities, TLS would trust the public ones.
   */
  renewableFile(name: string): (() => string) | undefined {
    this.descriptors.set(name, { type: 'file', isRequired: false });
    const file = this.env[name];
    const first = file ? this.readFile(name, file) : undefined;
    this.refuseWhen(first === '', `${name} names an empty file: ${file}`);
    return first === undefined ? undefined : renewable(file, first);
  }

  /** Returns the file that a setting is read from; undefined when it is set itself, or not at all. */
  fileOf(name: string): string | undefined {
    return this.env[name] ? undefined : this.env[`${name}_FILE`] || undefined;
  }

  list(name: string, fallback?: readonly string[]): readonly string[] {
    const value = this.lookUp(name, { type: 'list', fallback, isRequired: fallback === undefined });
    if (value === undefined && fallback) return fallback;
    const items = (value ?? '').split(',').flatMap((item) => item.trim() || []);
    if (items.length === 0) this.faults.push(`${name} is required: a list separated by commas`);
    return items;
  }

  /** Returns a whole number; default minimum 0, default maximum the largest safe integer. */
  integer(
    name: string,
    fallback: number,
    { min = 0, max = Number.MAX_SAFE_INTEGER }: NumberBounds = {},
  ): number {
    const text = this.lookUp(name, { type: 'integer', fallback, isRequired: false, min, max });
    if (text === undefined) return fallback;
    const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.faults.push(`${name} must be a whole number from ${min} to ${max}, not '${text.slice(0, 40)}'`);
    return fallback;
  }

  port(name: string, fallback: number): number {
    return this.integer(name, fallback, { min: 0, max: 65_535 });
  }

  flag(name: string, fallback: boolean): boolean {
    const text = this.lookUp(name, { type: 'flag', fallback, isRequired: false });
    if (text === undefined) return fallback;
    if (text !== 'true' && text !== 'false')
      this.faults.push(`${name} must be true or false, not '${text.slice(0, 40)}'`);
    return text === 'true';
  }

  url(name: string, fallback?: string): string {
    const text = this.textOf(name, 'url', fallback);
    if (text !== '' && !URL.canParse(text)) this.faults.push(`${name} must be a URL`);
    return text;
  }

  /**
   * Reads any other form. `parse` throws an error whose message says what was expected (never the value). Returns
   * undefined after a fault, or for an empty default.
   */
  parsed<T>(name: string, fallback: string | undefined, parse: (text: string) => T): T | undefined {
    const text = this.textOf(name, 'parsed', fallback);
    if (text === '') return undefined;
    try {
      return parse(text);
    } catch (error) {
      this.faults.push(`${name}: ${error instanceof Error ? error.message : 'is not valid'}`);
      return undefined;
    }
  }

  refuseInProduction(condition: boolean, fault: string): void {
    this.refuseWhen(condition && this.env['NODE_ENV'] === 'production', fault);
  }

  /** Adds a fault in a combination of settings. */
  refuseWhen(condition: boolean, fault: string): void {
    if (condition) this.faults.push(fault);
  }

  private textOf(name: string, type: SettingType, fallback: string | undefined): string {
    const value = this.lookUp(name, { type, fallback, isRequired: fallback === undefined }) ?? fallback;
    if (value === undefined) this.faults.push(`${name} is required`);
    return value ?? '';
  }

  private lookUp(name: string, descriptor: SettingDescriptor): string | undefined {
    this.descriptors.set(name, descriptor);
    const value = this.env[name];
    if (value !== undefined && value !== '') return value;
    const file = this.env[`${name}_FILE`];
    return file ? this.readFile(`${name}_FILE`, file) || undefined : undefined;
  }

  private readFile(name: string, file: string): string | undefined {
    try {
      return readFileSync(file, 'utf8').trimEnd();
    } catch {
      this.faults.push(`${name} names a file that cannot be read: ${file}`);
      return undefined;
    }
  }
}

function renewable(file: string | undefined, first: string): () => string {
  let last = first;
  return () => {
    if (file === undefined) return last;
    try {
      last = readFileSync(file, 'utf8').trimEnd() || last;
    } catch {
      // It is being replaced, or cannot be read now: a refused login will tell.
    }
    return last;
  };
}

/** Reads a service's settings with `read`; throws one `SettingsError` that names every fault. */
export function readSettings<T>(env: Environment, read: (settings: SettingsReader) => T): T {
  const reader = new SettingsReader(env);
  const settings = read(reader);
  if (reader.faults.length > 0) throw new SettingsError(reader.faults);
  return settings;
}
