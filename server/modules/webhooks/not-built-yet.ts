import type { WebhookWorker } from './delivery-types.ts'
import type { GovernanceNews, InvocationWatches, WebhookOutbox } from './webhooks-types.ts'

/** What stands in for parts of this module that are not there yet: they do nothing. */
export const noOutbox: WebhookOutbox = {
  wanted: async () => () => false,
  add: async () => {},
  step: () => {
    throw new Error('there is no outbox yet')
  },
  queued: () => {},
}
export const noNews: GovernanceNews = { written: async () => {} }
export const noWatches: InvocationWatches = { of: async () => undefined, changed: () => {} }
export const noWorker: WebhookWorker = { wake: () => {}, start: () => {}, stop: async () => {} }
