import { DomainError } from '../../../contract/domain-error.ts'

/** The `scimType` values of RFC 7644, table 9 that this server uses. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

/** Creates a 400 with its `scimType`. */
export function scimProblem(scimType: ScimType, detail: string): DomainError {
  return new DomainError('validation-failed', detail, { extensions: { scimType } })
}

/** Creates the 404, the same for unknown ids and those of other tenants. */
export function noSuchResource(kind: string, id: string): DomainError {
  return new DomainError('not-found', `There is no ${kind} ${JSON.stringify(id.slice(0, 100))}.`)
}

/**
 * Creates the 412 for a request whose `If-Match` names another version. DomainError has no status of its own for it.
 */
export function preconditionFailed(current: string): DomainError {
  return new DomainError(
    'concurrent-modification',
    `The resource is no longer in the version that If-Match names; it is ${current} now. Read it again first.`,
    { extensions: { scimStatus: 412 } },
  )
}
