import { Type } from 'typebox'
import { costComputed, costEstimate, invocations, pageOf, rowPlace, unpriced } from './summary-schemas.ts'

const numbers = {
  invocations,
  unpriced,
  cost_usd_estimate: costEstimate,
  cost_usd_computed: costComputed,
  variance_usd: Type.Number({
    description:
      '`cost_usd_estimate` − `cost_usd_computed`, exact: positive where senders estimate more than the service ' +
      'computes. Unpriced events are in the estimate only',
    examples: [0.334802],
  }),
  variance_ratio: Type.Optional(
    Type.Number({
      description: '`variance_usd` / `cost_usd_computed`, to six decimals. Absent where nothing was computed',
      examples: [0.032139],
    }),
  ),
}

export const ReconciliationPage = pageOf(rowPlace, numbers)
