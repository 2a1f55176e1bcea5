import type { ReactNode } from 'react';

/** A column: its head, and what a row shows in it. */
export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ReactNode;
  readonly isNumber?: boolean;
}

interface TableProps<T> {
  readonly caption: ReactNode;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}

/** A table; on a narrow screen each row is a card that repeats the heads. The roles stay when CSS makes cards. Without rows it is not shown. */
export function Table<T>({ caption, columns, rows, keyOf }: TableProps<T>) {
  if (rows.length === 0) return null;
  return (
    <table role="table">
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ head, isNumber }) => (
            <th key={head} scope="col" className={isNumber ? 'number' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ head, cell, isNumber }) => (
              <td key={head} role="cell" data-head={head} className={isNumber ? 'number' : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
