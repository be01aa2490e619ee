import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalize, type JsonObject } from '../../provenance/index.ts'
import type { CommonMembers } from '../../server/modules/sealing/sealing-types.ts'
import { eventMembers } from '../../server/modules/telemetry/ingest/event-writer.ts'
import { EventSchema } from '../../server/modules/telemetry/telemetry-schemas.ts'

const common: CommonMembers = {
  created_at: '2026-11-21T12:00:00.000000Z',
  created_by: 'client',
  record_id: '019a0000-0000-7000-8000-000000000000',
  record_type: 'telemetry_event',
  related_records: [],
  schema_version: '1.0',
  tenant_id: 'acme',
}
const computed = ['cost_usd_computed', 'price_source']
const required = EventSchema.required as string[]
const optional = [...Object.keys(EventSchema.properties), ...computed].filter((name) => !required.includes(name))

test('every member that an event can have is in its canonical object, in the order of the names', () => {
  fc.assert(
    fc.property(fc.subarray(optional), fc.jsonValue(), (present, value) => {
      const fields = Object.fromEntries([...required, ...present].map((name) => [name, value])) as JsonObject
      const members = eventMembers(fields, common)
      expect(members).toEqual({ ...fields, ...common })
      expect(Object.keys(members)).toEqual(Object.keys(members).sort())
      expect(canonicalize(members)).toBe(canonicalize({ ...fields, ...common }))
    }),
  )
})
