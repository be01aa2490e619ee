import { type Static, Type } from 'typebox'
import { priceDecimalsMax, priceOverridesMax, priceUsdPerMtokMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'

const usdPerMtok = (tokens: string, example: number) =>
  Type.Number({
    minimum: 0,
    maximum: priceUsdPerMtokMax,
    description: `US dollars per million tokens that the model ${tokens}, with at most ${priceDecimalsMax} decimals`,
    examples: [example],
  })

const PriceSchema = Type.Object(
  {
    llm_platform: Type.Optional(
      Type.String({
        pattern: patterns.llmPlatform,
        description: 'Without it, for the model on every platform that has no price of its own at the time',
        examples: ['claude'],
      }),
    ),
    llm_model: Type.String({ pattern: patterns.llmModel, examples: ['claude-sonnet-4-5'] }),
    input_usd_per_mtok: usdPerMtok('read', 2.4),
    output_usd_per_mtok: usdPerMtok('wrote', 12),
    effective_from: Type.String({
      format: 'date-time',
      description: 'For events whose `ts` is this or later. RFC 3339; kept in UTC with six digits',
      examples: ['2026-01-01T00:00:00.000000Z'],
    }),
    effective_until: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'And whose `ts` is earlier than this. The beginning of the next price of the same platform and model ends ' +
          'this one too',
        examples: ['2026-07-01T00:00:00.000000Z'],
      }),
    ),
  },
  { additionalProperties: false },
)

/**
 * A price of the tenant's own, in US dollars per million tokens. Stored ones have times with six fractional digits and
 * `Z`.
 */
export type PriceOverride = Static<typeof PriceSchema>

const prices = Type.Array(PriceSchema, {
  maxItems: priceOverridesMax,
  description: "All of the tenant's own prices, by platform, model and beginning",
})

export const PricesBody = Type.Object({ prices }, { additionalProperties: false })

export const PriceListSchema = Type.Object(
  {
    prices,
    verified: Type.Optional(
      Type.Boolean({
        description:
          'False if the list is not the one that its signed governance event has, because somebody edited the ' +
          'database: events are stored without `cost_usd_computed` until the list is sent again with PUT. Absent otherwise',
        examples: [false],
      }),
    ),
    catalogue: Type.Object(
      {
        source: Type.String({ description: 'npm package', examples: ['@pydantic/genai-prices'] }),
        version: Type.String({ examples: ['0.1.8'] }),
      },
      { additionalProperties: false, description: 'Source of all other prices' },
    ),
  },
  { additionalProperties: false },
)

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
