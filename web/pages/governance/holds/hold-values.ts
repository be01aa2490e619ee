import * as v from 'valibot'
import { holdNameLengthMax, holdRecordsMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import type { Body } from '../../../api/api-client.ts'
import { type FilterValues, filterOf, filterValues, noFilter } from '../../../components/record-filter.ts'

const uuid = new RegExp(patterns.uuid)

/** Returns true for the form of a record id. */
export const isRecordId = (text: string) => uuid.test(text)

/** Returns the record ids in typed text, each once. */
export const idsIn = (text: string) => [...new Set(text.split(/[\s,;]+/).filter((id) => id !== ''))]

const common = {
  name: v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty('Say which matter it is for.'),
    v.maxLength(holdNameLengthMax, `At most ${holdNameLengthMax} characters.`),
  ),
  reason: v.pipe(v.string(), v.trim(), v.nonEmpty('Say why.'), v.maxLength(500, 'At most 500 characters.')),
}
const unused = { filter: v.any(), record_ids: v.any(), confirmation: v.any() }

/**
 * Checks the form of a hold.
 *
 * @param tenant its slug, which is typed before a hold covers every record
 */
export function holdValuesOf(tenant: string) {
  return v.variant('over', [
    v.object({
      ...common,
      ...unused,
      over: v.literal('records'),
      record_ids: v.pipe(
        v.string(),
        v.check((text) => idsIn(text).length > 0, 'Name at least one record.'),
        v.check((text) => idsIn(text).length <= holdRecordsMax, `A hold names at most ${holdRecordsMax} records.`),
        v.check(
          (text) => idsIn(text).every(isRecordId),
          ({ input }) => `This is no id of a record: ${idsIn(String(input)).find((id) => !isRecordId(id))}`,
        ),
      ),
    }),
    v.object({
      ...common,
      ...unused,
      over: v.literal('filter'),
      // Reported at the first field of the filter, to which the form leads.
      filter: v.pipe(
        filterValues,
        v.forward(v.check(hasCondition, 'Name at least one condition, or choose “All records”.'), ['record_type']),
      ),
    }),
    v.object({
      ...common,
      ...unused,
      over: v.literal('all'),
      confirmation: v.pipe(v.string(), v.trim(), v.literal(tenant, `Type ${tenant}, the name of the tenant.`)),
    }),
  ])
}

/** Returns true if a filter excludes any record. */
export function hasCondition(filter: FilterValues): boolean {
  return Object.keys(filterOf(filter)).length > 0
}

interface HoldValues {
  name: string
  reason: string
  over: 'filter' | 'records' | 'all'
  record_ids: string
  filter: FilterValues
  confirmation: string
}

/** Returns the values of an empty form. */
export function emptyHold(recordIds: readonly string[]): HoldValues {
  const scope = { over: 'records' as const, record_ids: recordIds.join('\n'), filter: noFilter }
  return { name: '', reason: '', ...scope, confirmation: '' }
}

/** Returns the body that places the hold of the form. */
export function holdBody({ name, reason, over, record_ids, filter }: HoldValues): Body<'placeHold'> {
  const scopes = {
    filter: () => ({ filter: filterOf(filter) }),
    records: () => ({ record_ids: idsIn(record_ids) }),
    all: () => ({ all: true }),
  }
  return { name: name.trim(), reason: reason.trim(), ...scopes[over]() }
}
