import type * as v from 'valibot'
import { addressSearch, oneOf, recordId } from '../../components/search-schemas.ts'

export const graphSearch = addressSearch({
  depth: oneOf(['1', '2', '3', '4', '5']),
  direction: oneOf(['both', 'out', 'in']),
  /** The form of display; defaults to a list on phones. */
  form: oneOf(['graph', 'list']),
  /** The id of the record whose details are open. */
  open: recordId,
})

export type GraphSearch = v.InferOutput<typeof graphSearch>
