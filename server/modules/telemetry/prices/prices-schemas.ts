import { type Static, Type } from 'typebox'
import { priceDecimalsMax, priceOverridesMax, priceUsdPerMtokMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'

const usdPerMtok = (tokens: string, example: number) =>
  Type.Number({
    minimum: 0,
    maximum: priceUsdPerMtokMax,
    description: `US dollars per million ${tokens} tokens, with at most ${priceDecimalsMax} decimals`,
    examples: [example],
  })

const PriceSchema = object({
  llm_platform: Type.Optional(
    Type.String({
      pattern: patterns.llmPlatform,
      description:
        'Platform of the price; if absent, it applies on every platform without a price of its own at the time',
      examples: ['claude'],
    }),
  ),
  llm_model: Type.String({ pattern: patterns.llmModel, examples: ['claude-sonnet-4-5'] }),
  input_usd_per_mtok: usdPerMtok('input', 2.4),
  output_usd_per_mtok: usdPerMtok('output', 12),
  effective_from: Type.String({
    format: 'date-time',
    description: 'Applies to events with `ts` at or after this time. RFC 3339; stored in UTC with six digits',
    examples: ['2026-01-01T00:00:00.000000Z'],
  }),
  effective_until: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Applies to events with `ts` before this time. The start of the next price of the same platform and ' +
        'model ends this one too',
      examples: ['2026-07-01T00:00:00.000000Z'],
    }),
  ),
})

/**
 * A price of the tenant's own, in US dollars per million tokens. Stored ones have times with six fractional digits and
 * `Z`.
 */
export type PriceOverride = Static<typeof PriceSchema>

const prices = Type.Array(PriceSchema, {
  maxItems: priceOverridesMax,
  description: "All of the tenant's own prices, by platform, model and start",
})

export const PricesBody = object({ prices })

export const PriceListSchema = object({
  prices,
  verified: Type.Optional(
    Type.Boolean({
      description:
        'False if the list does not match its signed governance event, because the database was edited. Events ' +
        'are then stored without `cost_usd_computed` until the list is sent again with PUT. Absent otherwise',
      examples: [false],
    }),
  ),
  catalogue: object(
    {
      source: Type.String({ description: 'npm package', examples: ['@pydantic/genai-prices'] }),
      version: Type.String({ examples: ['0.1.8'] }),
    },
    { description: 'Source of all other prices' },
  ),
})

export const RepricingBody = object({
  from: Type.String({
    description: 'RFC 3339; inclusive, compared with `ts`',
    examples: ['2026-01-01T00:00:00Z'],
  }),
  to: Type.Optional(
    Type.String({
      description: 'RFC 3339; exclusive, after `from`. Default: now',
      examples: ['2026-02-01T00:00:00Z'],
    }),
  ),
})

export const QueuedRepricing = object({
  job_id: Type.String({
    description: '`details.job_id` of the governance event `telemetry.rerated` with the result',
    examples: ['019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'],
  }),
  status: Type.Literal('queued'),
})
