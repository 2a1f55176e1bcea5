/** A character of a header field's name, and one of its value (RFC 9110 §5.6.2 and §5.5), to be put into patterns. */
export const NAME_CHARACTER = "[!#-'*+\\-.0-9A-Z^-z|~]";
/** Visible characters of latin1, spaces and tabs. */
export const VALUE_CHARACTER = '[\\t -~\\x80-\\xff]';
