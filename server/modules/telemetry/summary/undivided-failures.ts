import { type DomainError, validationFailed } from '../../../../contract/domain-error.ts'

/** Refuses numbers by success or error code for a range with failures that were counted before they were divided. */
export function undividedFailures(): DomainError {
  const detail =
    'must be later: the range has failures that an earlier version of the Hub counted without their error codes. ' +
    'Or leave out `success`, `error_code` and `group_by=error_code`, or ask the operator to run `hub rollups rebuild`, which ' +
    'divides them unless their events were erased'
  return validationFailed([{ pointer: '/query/from', detail }])
}
