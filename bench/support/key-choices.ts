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
 * Returns the choices of `--keys all|none`: whether requests carry a new Idempotency-Key. If absent, both, one after
 * the other in each round.
 */
export function keyChoices(run: Run): KeyChoice[] {
  const chosen = run.flag('keys')
  if (chosen === undefined) return Object.values(choices)
  const choice = choices[chosen]
  if (choice === undefined) throw new Error(`--keys must be all or none, not ${chosen}`)
  return [choice]
}
