import * as v from 'valibot'
import { known, recordId } from '../../components/search-schemas.ts'

export const graphSearch = v.object({
  depth: known(v.picklist(['1', '2', '3', '4', '5'])),
  direction: known(v.picklist(['both', 'out', 'in'])),
  /** The form of display; defaults to a list on phones. */
  form: known(v.picklist(['graph', 'list'])),
  /** The id of the record whose details are open. */
  open: recordId,
})

export type GraphSearch = v.InferOutput<typeof graphSearch>
