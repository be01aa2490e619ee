import { type Static, Type } from 'typebox'
import { eventFilterMembers } from './event-filter.ts'
import { searchLengthMax, sessionIdLengthMax } from './limits.ts'
import { patterns } from './literals.ts'
import { object } from './object-schema.ts'
import { normaliseFilter, recordFilterMembers } from './record-filter.ts'
import { formatTimestamp, parseTimestamp } from './timestamp.ts'

/** The records of an export: all parameters of the Hub query. */
export const ExportFilterBody = object(
  {
    ...recordFilterMembers,
    created_at__lte: Type.Optional(
      Type.String({ description: 'RFC 3339; inclusive, as in the search', examples: ['2026-01-31T23:59:59Z'] }),
    ),
    trace_id: Type.Optional(Type.String({ pattern: patterns.traceId, examples: ['4bf92f3577b34da6a3ce929d0e0e4736'] })),
    session_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: sessionIdLengthMax, examples: ['support-chat-8812'] }),
    ),
    ...eventFilterMembers,
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: searchLengthMax,
        description:
          'Only records that `GET /api/v1/hub/search` finds with this `q`, `record_type`, `skill_id` and times. ' +
          'Other members are refused beside `q`.',
        examples: ['payment provider -stripe'],
      }),
    ),
  },
  { description: 'All records if empty' },
)

type ExportFilterBody = Static<typeof ExportFilterBody>

/** A filter in its stored form, see `normaliseFilter`. Its only end is `created_at__lt`. */
export type ExportFilter = Omit<ExportFilterBody, 'tenant_id' | 'created_at__lte'>

/** Returns the stored form of a filter. Throws DomainError `validation-failed` for invalid times. */
export function normaliseExportFilter(given: ExportFilterBody, pointer: string): ExportFilter {
  const { created_at__lte: last, ...filter } = normaliseFilter(given, pointer)
  const end = last === undefined ? undefined : microsecondAfter(last)
  if (end === undefined) return filter
  const { created_at__lt: before } = filter
  return before !== undefined && before < end ? filter : { ...filter, created_at__lt: end }
}

/** Returns the next time; undefined after the last one of the year 9999. */
function microsecondAfter(time: string): string | undefined {
  const { epochMs, microsOfMs } = parseTimestamp(time)!
  const micros = microsOfMs + 1
  return parseTimestamp(formatTimestamp(epochMs + Math.floor(micros / 1000), micros % 1000))?.text
}
