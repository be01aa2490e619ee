import type { Run } from './figure.ts'

interface KeyChoice {
  name: string
  keys: boolean
}

const choices: Record<string, KeyChoice> = {
  all: { name: 'a key on each request', keys: true },
  none: { name: 'without keys', keys: false },
}

/**
 * `--keys all|none`: whether requests carry an Idempotency-Key, which nobody has used before. Both, one after the
 * other in each round, if absent.
 */
export function keyChoices(run: Run): KeyChoice[] {
  const chosen = run.flag('keys')
  if (chosen === undefined) return Object.values(choices)
  const choice = choices[chosen]
  if (choice === undefined) throw new Error(`--keys must be all or none, not ${chosen}`)
  return [choice]
}
