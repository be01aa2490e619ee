import { DomainError } from '../../../../contract/domain-error.ts'

/** Returns the same error for a record of another tenant, one that the scopes hide, and one that is gone. */
export function recordNotFound(recordId: string): DomainError {
  return new DomainError(
    'not-found',
    `There is no record ${recordId} in this tenant that this token may see, or it was purged and its recovery buffer is over.`,
  )
}
