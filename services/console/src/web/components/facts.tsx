export interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: string | undefined])[];
}

/** Names and values, one a line; a value that is absent has no line. */
export function Facts({ facts }: FactsProps) {
  return (
    <dl>
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <div key={`${name} ${value}`}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
