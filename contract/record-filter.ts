import { type Static, Type } from 'typebox'
import { type PointedError, validationFailed } from './domain-error.ts'
import { patterns, recordTypes } from './literals.ts'
import { object } from './object-schema.ts'
import { parseTimestamp } from './timestamp.ts'

/** Members of the filter of legal holds, to which exports add more. The names are those of the Hub query parameters. */

const text = (example: string) => Type.String({ minLength: 1, maxLength: 300, examples: [example] })
const time = (description: string) => Type.String({ description, examples: ['2026-01-01T00:00:00Z'] })

export const recordFilterMembers = {
  tenant_id: Type.Optional(
    Type.String({ description: 'The tenant of the header, if any', examples: ['acme'], maxLength: 300 }),
  ),
  record_type: Type.Optional(
    Type.Array(Type.Enum([...recordTypes]), {
      minItems: 1,
      maxItems: recordTypes.length,
      uniqueItems: true,
      description: 'Records of any of these types; all types if absent',
    }),
  ),
  record_id: Type.Optional(Type.String({ pattern: patterns.uuid, description: 'Only this record' })),
  skill_id: Type.Optional(text('summarise-contract')),
  archetype_id: Type.Optional(text('account-manager')),
  user_id: Type.Optional(text('user:ada@example.com')),
  created_by: Type.Optional(text('service:hub')),
  created_at__gte: Type.Optional(time('RFC 3339; inclusive')),
  created_at__lt: Type.Optional(time('RFC 3339; exclusive')),
  event_kind: Type.Optional(text('hub.record_purged')),
}

export const RecordFilterBody = object(recordFilterMembers, { description: 'All records if empty' })

type RecordFilterBody = Static<typeof RecordFilterBody>

/** A filter in its stored form: ids in lower case, times in UTC with six fractional digits, without the tenant. */
export type RecordFilter = Omit<RecordFilterBody, 'tenant_id'>

/** The members of a record that a filter compares. */
export interface FilteredRecord {
  record_id: string
  record_type: string
  created_by: string
  skill_id: string | null
  archetype_id: string | null
  user_id: string | null
  event_kind: string | null
}

/**
 * The filter in its stored form.
 *
 * @param pointer of the filter in the body, such as `/filter`
 * @throws DomainError `validation-failed` for an invalid time. The tenant is for the caller to check.
 */
export function normaliseFilter<Filter extends RecordFilterBody & { created_at__lte?: string }>(
  { tenant_id: _, ...filter }: Filter,
  pointer: string,
): Omit<Filter, 'tenant_id'> {
  const errors: PointedError[] = []
  const timeOf = (name: 'created_at__gte' | 'created_at__lt' | 'created_at__lte') => {
    const given = filter[name]
    if (given === undefined) return {}
    const parsed = parseTimestamp(given)
    if (parsed === undefined) errors.push({ pointer: `${pointer}/${name}`, detail: 'must be an RFC 3339 timestamp' })
    return { [name]: parsed?.text ?? '' }
  }
  const normal = {
    ...filter,
    ...(filter.record_id === undefined ? {} : { record_id: filter.record_id.toLowerCase() }),
    ...timeOf('created_at__gte'),
    ...timeOf('created_at__lt'),
    ...timeOf('created_at__lte'),
  }
  if (errors.length > 0) throw validationFailed(errors)
  return normal
}

/**
 * Whether a stored filter finds a record.
 *
 * @param createdAt in the one text form of timestamps, which sorts as time does
 */
export function matchesFilter(filter: RecordFilter, record: FilteredRecord, createdAt: string): boolean {
  const test = tests.get(filter) ?? testOf(filter)
  tests.set(filter, test)
  return test(record, createdAt)
}

type FilterTest = (record: FilteredRecord, createdAt: string) => boolean

/** A filter is asked about many records. */
const tests = new WeakMap<RecordFilter, FilterTest>()

function testOf(filter: RecordFilter): FilterTest {
  const { record_type: types, created_at__gte: from, created_at__lt: before, ...members } = filter
  const exact = Object.entries(members) as [keyof FilteredRecord, string][]
  return (record, createdAt) => {
    if (types !== undefined && !types.some((type) => type === record.record_type)) return false
    if (from !== undefined && createdAt < from) return false
    if (before !== undefined && createdAt >= before) return false
    return exact.every(([name, value]) => record[name] === value)
  }
}
