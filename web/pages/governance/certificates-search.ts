import * as v from 'valibot'
import { known, recordId } from '../../components/search-schemas.ts'

export const certificatesSearch = v.object({
  show: known(v.literal('purged')),
  /** The id of the record whose certificate is open. */
  record: recordId,
})

export type CertificatesSearch = v.InferOutput<typeof certificatesSearch>
