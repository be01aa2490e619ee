import { Type } from 'typebox'
import { object } from '../../../../contract/object-schema.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'

const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-07-01T09:30:00.000000Z'] })

export const AlertSchema = object({
  alert_id: Type.String({
    format: 'uuid',
    description: 'Id of the alert, the same in its messages `skill.alert_opened` and `skill.alert_closed`',
    examples: ['0197c5a1-7c1e-7a44-9d53-2f6a1b0c8e11'],
  }),
  metric: Type.Enum(['error_rate', 'latency_p95_ms', 'cost_usd_per_hour'], {
    description: 'Name of the rule',
    examples: ['error_rate'],
  }),
  group_by: Type.Enum(['skill', 'user', 'archetype'], { description: 'Name of the rule', examples: ['skill'] }),
  key: Type.String({ description: 'The skill, person or archetype', examples: ['contract-review'] }),
  value: Type.Number({ description: 'Value of the window at the last evaluation', examples: [0.31] }),
  threshold: Type.Number({ description: '`above` of the rule', examples: [0.2] }),
  recovers_at: Type.Number({
    description: 'The alert closes after the value was at or below this for a whole window',
    examples: [0.05],
  }),
  window_minutes: Type.Integer({ description: 'Name of the rule', examples: [60] }),
  invocations: Type.Integer({
    minimum: 0,
    description: 'Invocations in the window at the last evaluation',
    examples: [412],
  }),
  opened_at: time('When it opened'),
  recovering_since: Type.Optional(time('Since when the value has been at or below `recovers_at`')),
  seen_at: time('Time of the last evaluation of the window'),
})

export const AlertList = object({
  items: Type.Array(AlertSchema, { description: 'The oldest first' }),
  next_cursor: NextCursor,
})
