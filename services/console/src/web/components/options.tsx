interface OptionsProps<T extends string> {
  readonly label: string;
  /** Of a field of a form. */
  readonly name?: string;
  /** The chosen one; default: the form keeps it, at first the first. */
  readonly value?: T;
  readonly values: readonly T[];
  /** What a value is called; default: the value. */
  readonly nameOf?: (value: T) => string;
  readonly onChange?: (value: string) => void;
}

/** Chooses one of a few values. */
export function Options<T extends string>(props: OptionsProps<T>) {
  const { label, name, value, values, nameOf = (one) => one, onChange } = props;
  return (
    <label>
      {label}{' '}
      <select name={name} value={value} onChange={({ target }) => onChange?.(target.value)}>
        {values.map((one) => (
          <option key={one} value={one}>
            {nameOf(one)}
          </option>
        ))}
      </select>
    </label>
  );
}
