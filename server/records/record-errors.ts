import { DomainError } from '../../contract/domain-error.ts'

/** Returns the same error for a record of another tenant, one that the scopes hide, and one that is gone. */
export function recordNotFound(recordId: string): DomainError {
  return new DomainError(
    'not-found',
    `The tenant has no record ${recordId} that this token can read, or its recovery period after a purge is over.`,
  )
}

/**
 * Returns whether stored data caused an error: a value of the wrong type for its column, or a corrupt page of the table
 * (class XX of PostgreSQL, appendix A). Errors of the service and other errors of the database do not count.
 */
export function isCorruptionError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof DomainError) return false
  return !('severity' in error) || String((error as { code?: string }).code).startsWith('XX')
}
