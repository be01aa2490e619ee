import type * as v from 'valibot'
import { addressSearch, oneOf, text } from '../../../components/search-schemas.ts'

export const holdsSearch = addressSearch({
  state: oneOf(['active', 'released']),
  /** The id of the hold whose details are open. */
  hold: text(),
  /** Opens the form with these records: ids separated by commas, or `1`. */
  place: text(20_000),
})

export type HoldsSearch = v.InferOutput<typeof holdsSearch>
