import { DomainError } from '../../../contract/domain-error.ts'

/** The same for a record of another tenant, one the scopes hide, and one that is gone. */
export function recordNotFound(recordId: string): DomainError {
  return new DomainError(
    'not-found',
    `There is no record ${recordId} in this tenant that this token may see, or it was purged and its recovery buffer is over.`,
  )
}

/** A record of a Mode B tenant whose key was destroyed. */
export function contentErased(recordId: string): DomainError {
  return new DomainError(
    'not-found',
    `The content of the record ${recordId} is gone: the key that it was encrypted under was destroyed. ` +
      'What remains proves that it was there: GET /api/v1/hub/records/{record_id}/proof.',
  )
}
