import * as v from 'valibot'
import { patterns } from '../../../contract/literals.ts'

export const certificatesSearch = v.object({
  show: v.optional(v.fallback(v.optional(v.literal('purged')), undefined)),
  /** Id of the record whose certificate is open. */
  record: v.optional(
    v.fallback(v.optional(v.pipe(v.string(), v.trim(), v.regex(new RegExp(patterns.uuid)))), undefined),
  ),
})

export type CertificatesSearch = v.InferOutput<typeof certificatesSearch>
