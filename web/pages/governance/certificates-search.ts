import * as v from 'valibot'
import { addressSearch, known, recordId } from '../../components/search-schemas.ts'

export const certificatesSearch = addressSearch({
  show: known(v.literal('purged')),
  /** The id of the record whose certificate is open. */
  record: recordId,
})

export type CertificatesSearch = v.InferOutput<typeof certificatesSearch>
