import type { DeliveryErrorCode, DeliveryStatus } from '../../../contract/webhook-deliveries.ts'

export const statusLabels: Record<DeliveryStatus, string> = {
  pending: 'Waiting',
  delivered: 'Delivered',
  failed: 'Retrying',
  dead: 'Failed permanently',
}

/** The reason of a failed attempt, and advice. */
export const errorAdvice: Record<DeliveryErrorCode, string> = {
  blocked: 'The Hub does not connect to this address. Use a public one, or ask the operator to allow it.',
  unreachable: 'No connection could be made, or it broke off. Is the receiver running, and its certificate good?',
  timeout: 'The receiver did not answer in time. It should write the message down, answer, and work afterwards.',
  redirect: 'The receiver answered with a redirect, which the Hub does not follow. Set the final address.',
  gone: 'The receiver answered 410, gone for good. That disables the endpoint.',
  'rate-limited': 'The receiver answered 429. The Hub waits as long as it asks.',
  'http-4xx': 'The receiver refused the message. Often it verifies with another secret, or the path is wrong.',
  'http-5xx': 'The receiver failed. Look into its own log.',
  'http-other': 'The receiver gave an answer that is no 2xx.',
  'key-destroyed': 'There was nothing to sign with: the tenant’s key was destroyed.',
  overflow: 'Too much waited for this endpoint, and this the longest. Send it again once the receiver keeps up.',
}
