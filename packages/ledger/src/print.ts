/** Shows one line to whoever watches. */
export type Print = (line: string) => void;
