import { DomainError } from '../../../../contract/domain-error.ts'

/** Whether the log refused because somebody has edited what is stored of it, as opposed to a database that is away. */
export function isLogCorruption(error: unknown): boolean {
  return error instanceof DomainError && error.slug === 'internal' && nameOf(error.cause) === 'LogDamage'
}

function nameOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined
}
