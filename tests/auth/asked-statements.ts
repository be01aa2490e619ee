/** Statements without the looks at token keys and revocations, which go on beside requests at any time. */
export function askedStatements(statements: readonly string[]): string[] {
  const beside = /^(begin|commit)$|\bhub"?\."?(token_keys|revocations)\b|^select statement_timestamp\(\)/
  return statements.filter((text) => !beside.test(text.trim()))
}
