import { useSpeech } from '../language.js';

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
}

/** Chooses one of a few values, or none. */
export function Choice({ label, value = '', choices, onChange }: ChoiceProps) {
  const { texts } = useSpeech();
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">{texts.all}</option>
        {choices.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface OptionsProps {
  readonly label: string;
  readonly name: string;
  readonly values: readonly string[];
  /** What a value is called; default: the value. */
  readonly nameOf?: (value: string) => string;
  readonly onChange?: (value: string) => void;
}

/** A field of a form that has one of a few values; the first is preselected. */
export function Options({ label, name, values, nameOf = (value) => value, onChange }: OptionsProps) {
  return (
    <label>
      {label}{' '}
      <select name={name} onChange={({ target }) => onChange?.(target.value)}>
        {values.map((value) => (
          <option key={value} value={value}>
            {nameOf(value)}
          </option>
        ))}
      </select>
    </label>
  );
}
