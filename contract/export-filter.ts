import { type Static, Type } from 'typebox'
import { eventFilterMembers } from './event-filter.ts'
import { searchLengthMax, sessionIdLengthMax } from './limits.ts'
import { patterns } from './literals.ts'
import { object } from './object-schema.ts'
import { recordFilterMembers } from './record-filter.ts'

/** The records of an export: all parameters of the Hub query. */
export const ExportFilterBody = object(
  {
    ...recordFilterMembers,
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

/** A filter in its stored form, see `normaliseFilter`. */
export type ExportFilter = Omit<Static<typeof ExportFilterBody>, 'tenant_id'>
