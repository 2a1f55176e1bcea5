/** A value while it is being made: optional fields are set one by one, which is cheaper than an object spread for each. */
export type Growing<T> = { -readonly [Key in keyof T]: T[Key] };
