import { DomainError } from '../../../contract/domain-error.ts'

/**
 * Whether an error is about what is stored: neither the database nor the service refused, but a value is none that its
 * column should have, or a page of the table is corrupt (class XX of PostgreSQL, appendix A).
 */
export function isCorruptionError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof DomainError) return false
  return !('severity' in error) || String((error as { code?: string }).code).startsWith('XX')
}
