import { DomainError } from '../../../contract/domain-error.ts'

/** Returns whether an error is due to an edited log, as opposed to an unavailable database. */
export function isLogCorruption(error: unknown): boolean {
  return error instanceof DomainError && error.slug === 'internal' && nameOf(error.cause) === 'LogCorruptionError'
}

function nameOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined
}
