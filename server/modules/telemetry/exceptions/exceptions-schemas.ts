import { type Static, Type } from 'typebox'
import { dimensionFilters } from '../../../../contract/dimension-filters.ts'
import { object } from '../../../../contract/object-schema.ts'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { NextCursor } from '../../../../contract/response-schemas.ts'

export const exceptionKinds = ['unpriced', 'divergent'] as const
export const tolerancePercentDefault = 2

const bound = (description: string) => Type.Optional(Type.String({ description, examples: ['2026-01-05T00:00:00Z'] }))

export const exceptionsQuery = object({
  kind: Type.Optional(
    Type.Enum([...exceptionKinds], {
      description: '`unpriced`: no calculated cost. `divergent`: the two costs differ. Default: both kinds',
      examples: ['unpriced'],
    }),
  ),
  tolerance: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 10,
      default: tolerancePercentDefault,
      description: 'Percent of the calculated cost by which the reported cost may differ without being divergent',
      examples: [5],
    }),
  ),
  created_at__gte: bound('RFC 3339; stored at or after this time'),
  created_at__lt: bound('RFC 3339; stored before this time'),
  ...dimensionFilters,
  ...PageQuery.properties,
})

export type ExceptionsQuery = Static<typeof exceptionsQuery>

const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-05T09:30:00.123456Z'] })

const CostException = object({
  record_id: Type.String({ examples: ['019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'] }),
  ts: time('Id of the event'),
  created_at: time('When it was stored'),
  skill_id: Type.String({ examples: ['summarise-ticket'] }),
  archetype_id: Type.String({ examples: ['support-agent'] }),
  user_id: Type.String({ examples: ['user:kim@example.com'] }),
  llm_platform: Type.String({ examples: ['claude'] }),
  llm_model: Type.Optional(Type.String({ examples: ['claude-sonnet-4-5'] })),
  tokens_in: Type.Integer({ minimum: 0, examples: [1330] }),
  tokens_out: Type.Integer({ minimum: 0, examples: [210] }),
  cost_usd_estimate: Type.Number({ description: 'Reported cost', examples: [0.0109] }),
  cost_usd_computed: Type.Optional(
    Type.Number({ description: 'Calculated cost by the last pricing. Absent when unpriced', examples: [0.00714] }),
  ),
  price_source: Type.Optional(
    Type.String({
      description: 'Source of the prices of the last pricing',
      examples: ['genai-prices/0.1.8:anthropic/claude-sonnet-4-5'],
    }),
  ),
  kind: Type.Enum([...exceptionKinds], { examples: ['divergent'] }),
  reason: Type.String({
    description:
      'Unpriced: `no_model` (the event has no model), `unknown_model` (no prices for the model), ' +
      '`no_price_at_ts` (prices for other times only), `no_price_for_tokens` (no price for a kind of token that ' +
      'was used), `prices_not_verified` (the price list is not the one of its signed event), or ' +
      '`price_known_since` (a price exists now: reprice). Divergent: `differs_by_more_than_2_percent`, with the ' +
      'value of `tolerance`',
    examples: ['differs_by_more_than_2_percent'],
  }),
  variance_usd: Type.Optional(
    Type.Number({ description: '`cost_usd_estimate` − `cost_usd_computed`, exact', examples: [0.00376] }),
  ),
  variance_ratio: Type.Optional(
    Type.Number({
      description: '`variance_usd` / `cost_usd_computed`, to six decimals. Absent if the calculated cost is 0',
      examples: [0.526611],
    }),
  ),
})

export type CostException = Static<typeof CostException>

export const ExceptionsPage = object({
  items: Type.Array(CostException, { description: 'In the order of storage' }),
  next_cursor: NextCursor,
})
