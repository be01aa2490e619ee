/** Statuses and errors of the log of deliveries. Types and schemas derive from them. */

/** Statuses of a delivery. */
export const deliveryStatuses = {
  pending: 'not attempted since it was queued',
  delivered: 'taken',
  failed: 'not accepted; retried at `next_attempt_at`',
  dead: 'given up',
} as const

export type DeliveryStatus = keyof typeof deliveryStatuses

/** Errors of an attempt that failed or was not sent. */
export const deliveryErrors = {
  blocked: 'the address is not public, or another that the Hub does not connect to',
  unreachable: 'no connection, or it broke off before an answer',
  timeout: 'no answer in time',
  redirect: '301, 302, 303, 307 or 308',
  gone: '410',
  'rate-limited': '429',
  'http-4xx': 'another answer of the 400s',
  'http-5xx': 'an answer of the 500s',
  'http-other': 'any other that is no 2xx',
  'key-destroyed': 'nothing to sign with, because the key of the tenant was destroyed',
  overflow: 'more waited for the endpoint than is kept, and this the longest',
} as const

export type DeliveryErrorCode = keyof typeof deliveryErrors

/** Describes each status for the OpenAPI document. */
export function meaningsOf(words: Readonly<Record<string, string>>): string {
  return Object.entries(words)
    .map(([word, meaning]) => `\`${word}\`: ${meaning}.`)
    .join(' ')
}

export function wordsOf<Word extends string>(words: Readonly<Record<Word, string>>): Word[] {
  return Object.keys(words) as Word[]
}
