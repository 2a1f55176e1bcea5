/** One place of what is built, said otherwise. */
export interface Place {
  /** Below the root of the tree. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly right: string;
  readonly wrong: string;
}

/** The text of the file with its one place said otherwise. Throws, with `name`, when it is not there exactly once. */
export function replaceOnce(text: string, { file, right, wrong }: Place, name: string): string {
  const places = text.split(right).length - 1;
  if (places !== 1) throw new Error(`'${name}': expected one place in ${file}, there are ${places}`);
  return text.replace(right, () => wrong);
}
