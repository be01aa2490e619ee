import * as v from 'valibot'
import { type DeliveryStatus, deliveryStatuses, wordsOf } from '../../../contract/webhook-deliveries.ts'
import { isMessageKind } from '../../../contract/webhook-events.ts'

const time = v.pipe(v.string(), v.isoTimestamp())
const optional = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.optional(v.fallback(v.optional(schema), undefined))

/** The state of an endpoint's page: filters of deliveries by status, kind and time; the open delivery. */
export const endpointSearch = v.object({
  status: optional(v.picklist(wordsOf<DeliveryStatus>(deliveryStatuses))),
  kind: optional(v.pipe(v.string(), v.check(isMessageKind))),
  from: optional(time),
  until: optional(time),
  delivery: optional(v.string()),
  view: optional(v.string()),
})

export type EndpointSearch = v.InferOutput<typeof endpointSearch>
