import type { JsonObject } from '../../provenance/json.ts'
import type { RecordReading } from '../../server/modules/records/read-service.ts'
import type { RecordRelations } from '../../server/modules/records/relation-service.ts'
import type { VerificationSummary } from '../../server/modules/verification/verification-types.ts'

interface Page {
  records: JsonObject[]
  next_cursor: string | null
  verification_summary?: VerificationSummary
}

interface Related {
  root: string
  records: JsonObject[]
  edges: { from: string; to: string }[]
  truncated: boolean
}

/** The services answer in JSON text; tests look into it. */
export function parsedReading({ query, get, verify }: RecordReading) {
  return {
    verify,
    query: async (...call: Parameters<typeof query>) => JSON.parse(await query(...call)) as Page,
    get: async (...call: Parameters<typeof get>) => {
      const { record, etag } = await get(...call)
      return { record: JSON.parse(record) as JsonObject, etag }
    },
  }
}

export function parsedRelations({ related }: RecordRelations) {
  return {
    related: async (...call: Parameters<typeof related>) => JSON.parse(await related(...call)) as Related,
  }
}
