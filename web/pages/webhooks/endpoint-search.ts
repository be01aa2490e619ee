import * as v from 'valibot'
import { type DeliveryStatus, deliveryStatuses, wordsOf } from '../../../contract/webhook-deliveries.ts'
import { isMessageKind } from '../../../contract/webhook-events.ts'
import { addressSearch, known, oneOf, text, time } from '../../components/search-schemas.ts'

/** The state of an endpoint's page: filters of deliveries by status, kind and time; the open delivery. */
export const endpointSearch = addressSearch({
  status: oneOf(wordsOf<DeliveryStatus>(deliveryStatuses)),
  kind: known(v.pipe(v.string(), v.check(isMessageKind), v.description('a kind of message'))),
  from: time,
  until: time,
  delivery: text(),
  view: text(),
})

export type EndpointSearch = v.InferOutput<typeof endpointSearch>
