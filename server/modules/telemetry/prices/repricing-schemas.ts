import { Type } from 'typebox'

export const RepricingBody = Type.Object(
  {
    from: Type.String({
      description: 'RFC 3339; inclusive, compared with `ts` of the events',
      examples: ['2026-01-01T00:00:00Z'],
    }),
    to: Type.Optional(
      Type.String({
        description: 'RFC 3339; exclusive, after `from`. Default: now',
        examples: ['2026-02-01T00:00:00Z'],
      }),
    ),
  },
  { additionalProperties: false },
)

export const QueuedRepricing = Type.Object(
  {
    job_id: Type.String({
      description: '`details.job_id` of the governance event `telemetry.rerated` that tells what it came to',
      examples: ['019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'],
    }),
    status: Type.Literal('queued'),
  },
  { additionalProperties: false },
)
