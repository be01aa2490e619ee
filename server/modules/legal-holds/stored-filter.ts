import { Compile } from 'typebox/compile'
import { type RecordFilter, RecordFilterBody } from '../../../contract/record-filter.ts'

const form = Compile(RecordFilterBody)

/**
 * Returns the filter of a stored hold. An unreadable filter matches every record, so that tampering releases nothing.
 */
export function filterOf(stored: unknown): RecordFilter {
  return form.Check(stored) ? stored : {}
}
